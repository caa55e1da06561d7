import { once } from "node:events";
import { readFile, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import path from "node:path";

import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";

import {
  embeddedUrl,
  ended,
  killStarted,
  PATIENCE,
  readerOf,
  run,
  type Running,
  start,
  temporaryFolder,
  token,
} from "./processes.ts";

// What a new user sees on the terminal: the real process on its embedded database.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

/** The first start in a new data folder; its process runs until the last tests of this file. */
let dataFolder: Awaited<ReturnType<typeof temporaryFolder>>;
let first: Running;
beforeAll(async () => {
  dataFolder = await temporaryFolder();
  first = await run({ SCRIP_DATA_DIR: dataFolder.path, SCRIP_PORT: "0" });
});
afterAll(async () => {
  await first.stop("SIGTERM");
  killStarted();
  await dataFolder[Symbol.asyncDispose]();
});
const readKeys = (): Promise<string> => readFile(path.join(dataFolder.path, "keys.env"), "utf8");

test("the first start names the file of the keys, which only its owner can read", async () => {
  // This output is no terminal, so it must not contain the keys.
  expect(first.output()).not.toContain("TOKEN=");
  expect(first.output()).toContain(
    `The keys of your first project are in ${path.join(dataFolder.path, "keys.env")}, `,
  );
  const keys = await readKeys();
  for (const name of [
    "SCRIP_BASE_URL",
    "SCRIP_APP_ID",
    "SCRIP_APP_TOKEN",
    "SCRIP_CLIENT_APP_ID",
    "SCRIP_CLIENT_TOKEN",
    "SCRIP_MANAGEMENT_ID",
    "SCRIP_MANAGEMENT_TOKEN",
  ]) {
    expect(keys).toMatch(new RegExp(`^export ${name}='.+'$`, "m"));
  }
  expect((await stat(path.join(dataFolder.path, "keys.env"))).mode & 0o777).toBe(0o600);
});

describe("a second data folder on the same database", () => {
  let other: Awaited<ReturnType<typeof temporaryFolder>>;
  let second: Running;
  const runSecond = async (): Promise<Running> =>
    run({
      SCRIP_DATA_DIR: other.path,
      SCRIP_PORT: "0",
      DATABASE_URL: await embeddedUrl(dataFolder.path),
    });
  beforeAll(async () => {
    other = await temporaryFolder();
    second = await runSecond();
  });
  afterAll(() => other[Symbol.asyncDispose]());

  test("serves metrics on a port of its own, and on another one when the default is in use", async () => {
    // The first has the default port, unless another program on this machine has it.
    const both = [second, first];
    const urls = both.map(({ output }) => /Metrics +(\S+)/.exec(output())?.[1] ?? "");
    expect(new Set(urls).size).toBe(2);
    for (const url of urls) expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/);
    expect(second.output()).toContain(`${urls[0]} (the default port is in use)`);
    for (const url of urls) {
      expect(await (await fetch(url)).text()).toContain("process_resident_memory_bytes");
      expect((await fetch(url.replace(/metrics$/, "readyz"))).status).toBe(404);
    }
    const taken = new URL(urls[1] ?? "").port;
    const third = await ended({
      SCRIP_DATA_DIR: dataFolder.path,
      SCRIP_PORT: "0",
      SCRIP_METRICS_PORT: taken,
    });
    expect(third).toEqual({
      code: 1,
      output: `Port ${taken} on 127.0.0.1 for metrics is in use by another program. Set SCRIP_METRICS_PORT and SCRIP_METRICS_HOST to others.\n`,
    });
  });

  test("gets no keys and says how to create one, also at its next start", async () => {
    for (const time of [1, 2]) {
      if (time === 2) second = await runSecond();
      expect(second.output(), `start ${time}`).not.toContain("SCRIP_APP_TOKEN");
      expect(second.output()).toContain("npx scrip keys create");
      const keys = await readFile(path.join(other.path, "keys.env"), "utf8");
      expect(keys).not.toContain("SCRIP_APP_ID");
      expect(keys).not.toContain("SCRIP_CLIENT_TOKEN");
      expect((await projects(keys)).status).toBe(200);
      expect(await second.stop("SIGTERM")).toBe(0);
    }
    expect((await token(await readKeys())).status).toBe(200);
  });
});

test("a second process on one data folder names the first, which keeps running", async () => {
  const second = await ended({ SCRIP_DATA_DIR: dataFolder.path, SCRIP_PORT: "0" });
  expect(second).toMatchObject({ code: 1 });
  expect(second.output).toContain(String(first.pid));
  expect(second.output).not.toContain("    at ");
  expect((await token(await readKeys())).status).toBe(200);
});

test.each(["Starting PostgreSQL", "Starting the services"])(
  "Ctrl-C at %j cancels the start, and no process stays behind",
  async (progress) => {
    await using empty = await temporaryFolder();
    const env = { SCRIP_DATA_DIR: empty.path, SCRIP_PORT: "0" };
    const { child, output } = start(env);
    const closed = once(child, "close");
    await expect.poll(output, { ...PATIENCE, interval: 5 }).toContain(progress);
    child.kill("SIGINT");
    await closed;
    expect(child.exitCode).toBe(0);
    expect(output()).toContain("Stopping");
    expect(output()).not.toContain("Scrip is ready");
    expect(output()).not.toContain("    at ");
    const again = await run(env);
    expect(await again.stop("SIGTERM")).toBe(0);
  },
);

test("Ctrl-C cancels a start that waits for a database that never responds", async () => {
  await using empty = await temporaryFolder();
  const silent = createServer().listen(0, "127.0.0.1");
  await once(silent, "listening");
  const { port } = silent.address() as { port: number };
  const DATABASE_URL = `postgres://a:b@127.0.0.1:${port}/x`;
  const connected = once(silent, "connection");
  const { child, output } = start({ SCRIP_DATA_DIR: empty.path, SCRIP_PORT: "0", DATABASE_URL });
  await connected;
  const closed = once(child, "close");
  child.kill("SIGINT");
  await closed;
  silent.close();
  expect(child.exitCode).toBe(0);
  expect(output()).toContain("Stopping");
  expect(output()).not.toContain("    at ");
});

test("names a used port and the variable to change", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  await using empty = await temporaryFolder();
  const { code, output } = await ended({ SCRIP_DATA_DIR: empty.path, SCRIP_PORT: String(port) });
  server.close();
  expect(code).toBe(1);
  expect(output).toContain(`Port ${port}`);
  expect(output).toContain("SCRIP_PORT=");
  expect(output).not.toContain("    at ");
});

test("explains a data folder that is a file, and reports all invalid settings together", async () => {
  await using parent = await temporaryFolder();
  const file = path.join(parent.path, "file");
  await writeFile(file, "not a folder");
  const broken = await ended({ SCRIP_DATA_DIR: file, SCRIP_PORT: "0" });
  expect([broken.code, broken.output]).toEqual([
    1,
    `The data folder ${file} is not a folder. Set SCRIP_DATA_DIR to another folder.\n`,
  ]);
  expect(broken.output).not.toContain("    at ");
  const wrong = await ended({
    SCRIP_DATA_DIR: parent.path,
    SCRIP_PORT: "http",
    SCRIP_GRPC_PORT: "-1",
    SCRIP_LIMIT_CALLS_PER_MINUTE: "-5",
    SCRIP_MANAGEMENT_TOKEN: "short",
    SCRIP_METRICS_PORT: "metrics",
  });
  expect(wrong.output).not.toContain("Starting");
  expect(wrong.output).toContain("SCRIP_LIMIT_CALLS_PER_MINUTE");
  expect(wrong.output).toContain("SCRIP_MANAGEMENT_TOKEN");
  expect(wrong.output).toContain("SCRIP_PORT");
  expect(wrong.output).toContain("SCRIP_GRPC_PORT");
  expect(wrong.output).toContain("SCRIP_METRICS_PORT");
});

test("names the reason why a database cannot be used, and the variable to check", async () => {
  await using other = await temporaryFolder();
  const right = new URL(await embeddedUrl(dataFolder.path));
  const wrong = (change: Partial<URL>): string => Object.assign(new URL(right), change).href;
  for (const [url, reason] of [
    [wrong({ password: "SECRET" }), "password authentication failed"],
    [wrong({ pathname: "/nowhere" }), 'database "nowhere" does not exist'],
    [wrong({ port: "1" }), "ECONNREFUSED"],
    [wrong({ hostname: "nobody.invalid" }), "nobody.invalid"],
  ] as const) {
    const { code, output } = await ended({
      SCRIP_DATA_DIR: other.path,
      SCRIP_PORT: "0",
      DATABASE_URL: url,
    });
    expect([code, output]).toEqual([1, expect.stringContaining(reason)]);
    expect(output).toContain("Check DATABASE_URL.");
    expect(output).not.toContain("    at ");
    expect(output).not.toContain("SECRET");
  }
});

test("a later start keeps the data and the keys, after Ctrl-C and after SIGTERM", async () => {
  const keys = await readKeys();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    expect(await first.stop(signal)).toBe(0);
    expect(first.output()).toContain("Stopping");
    first = await run({ SCRIP_DATA_DIR: dataFolder.path, SCRIP_PORT: "0" });
    expect(first.output()).not.toContain("The keys of your first project");
  }
  const again = await readKeys();
  expect(withoutUrl(again)).toBe(withoutUrl(keys));
  expect((await token(again)).status).toBe(200);
});

test("restarts a killed embedded database, reports it, and serves requests again", async () => {
  const pid = await readFile(path.join(dataFolder.path, "postgres/postmaster.pid"), "utf8");
  process.kill(Number(pid.split("\n")[0]), "SIGKILL");
  await expect.poll(first.output, PATIENCE).toContain("runs again");
  const keys = await readKeys();
  const status = () => token(keys).then((response) => response.status);
  await expect.poll(status, PATIENCE).toBe(200);
});

const withoutUrl = (keys: string): string => keys.replace(/^.*SCRIP_BASE_URL.*$/m, "");

async function projects(keys: string): Promise<Response> {
  const get = readerOf(keys);
  return fetch(`${get("SCRIP_BASE_URL")}/management/v1/projects`, {
    headers: {
      "x-management-id": get("SCRIP_MANAGEMENT_ID"),
      "x-management-token": get("SCRIP_MANAGEMENT_TOKEN"),
    },
  });
}
