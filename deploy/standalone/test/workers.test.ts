import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";

import { afterAll, beforeAll, expect, test, vi } from "vitest";

import {
  ended,
  killStarted,
  PATIENCE,
  readerOf,
  run,
  type Running,
  temporaryFolder,
  token,
} from "./processes.ts";

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const CALLS_PER_MINUTE = 400;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let scrip: Running;
let call: (target: string, body?: object) => Promise<Response>;

beforeAll(async () => {
  folder = await temporaryFolder();
  scrip = await run({
    SCRIP_DATA_DIR: folder.path,
    SCRIP_PORT: "0",
    SCRIP_METRICS_PORT: "0",
    SCRIP_WORKERS: "2",
    SCRIP_LIMIT_CALLS_PER_MINUTE: String(CALLS_PER_MINUTE),
  });
  const keys = await readFile(path.join(folder.path, "keys.env"), "utf8");
  const get = readerOf(keys);
  const { access_token: accessToken } = (await (await token(keys)).json()) as {
    access_token: string;
  };
  call = (target, body) =>
    fetch(get("SCRIP_BASE_URL") + target, {
      method: body === undefined ? "GET" : "POST",
      headers: {
        "x-app-id": get("SCRIP_APP_ID"),
        "x-app-token": get("SCRIP_APP_TOKEN"),
        authorization: `Bearer ${accessToken}`,
        "content-type": "application/json",
        // Each call is a connection of its own, so that the workers take turns.
        connection: "close",
      },
      ...(body && { body: JSON.stringify(body) }),
    });
});
afterAll(async () => {
  killStarted();
  await folder[Symbol.asyncDispose]();
});

const workers = (): readonly number[] =>
  execFileSync("ps", ["-eo", "ppid=,pid=,args="], { encoding: "utf8" })
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter(
      ([parent, , ...args]) => parent === String(scrip.pid) && args.at(-1)?.endsWith("worker.ts"),
    )
    .map(([, pid]) => Number(pid));

/** The metrics of all workers. */
async function redemptionsCounted(status: string): Promise<number> {
  const url = /Metrics +(\S+)/.exec(scrip.output())?.[1] ?? "";
  const text = await (await fetch(url)).text();
  const series = `http_request_duration_seconds_count\\{method="POST",route="/v1/vouchers/{code}/redemption",status="${status}"\\}`;
  return Number(new RegExp(`^${series} (\\d+)$`, "m").exec(text)?.[1] ?? 0);
}

test("workers redeem a code as often as its quantity, and their metrics are one", async () => {
  const discount = { type: "PERCENT", percent_off: 10 };
  const voucher = {
    code: "FIFTY",
    type: "DISCOUNT_VOUCHER",
    discount,
    redemption: { quantity: 50 },
  };
  expect((await call("/v1/vouchers", voucher)).status).toBe(200);
  const redeem = async (): Promise<number> =>
    (await call("/v1/vouchers/FIFTY/redemption", { order: { amount: 1_000 } })).status;
  const statuses = await Promise.all(Array.from({ length: 120 }, redeem));
  expect(statuses.filter((status) => status === 200)).toHaveLength(50);
  expect(statuses.filter((status) => status === 400)).toHaveLength(70);
  expect(await redemptionsCounted("2xx")).toBe(50);
  expect(await redemptionsCounted("4xx")).toBe(70);
});

test("replaces a killed worker, and serves requests until it is replaced", async () => {
  const before = workers();
  expect(before).toHaveLength(2);
  const [killed = 0, other] = before;
  process.kill(killed, "SIGKILL");
  await expect.poll(workers, PATIENCE).not.toContain(killed);
  for (let made = 0; made < 10; made += 1) {
    expect((await call("/v1/vouchers/FIFTY")).status).toBe(200);
  }
  await expect.poll(workers, PATIENCE).toHaveLength(2);
  expect(workers()).toContain(other);
  expect(scrip.output()).toContain("a worker ended and is replaced");
});

test("workers share the rate limits of a project", async () => {
  const statuses: number[] = [];
  const callMany = async (): Promise<void> => {
    while (!statuses.includes(429) && statuses.length < 2 * CALLS_PER_MINUTE) {
      statuses.push((await call("/v1/vouchers/FIFTY")).status);
    }
  };
  await Promise.all(Array.from({ length: 8 }, callMany));
  expect(statuses).toContain(429);
  // A worker counts alone for a second when the primary process does not respond in time.
  const allowed = statuses.filter((status) => status === 200).length;
  expect(allowed).toBeLessThan(1.3 * CALLS_PER_MINUTE);
});

test("stops the workers and the database", async () => {
  const before = workers();
  expect(before).not.toEqual([]);
  expect(await scrip.stop("SIGTERM")).toBe(0);
  for (const pid of before) expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  await expect(readFile(path.join(folder.path, "postgres/postmaster.pid"))).rejects.toThrow(
    "ENOENT",
  );
});

test("rejects more workers than the database has connections for, and says how many it has", async () => {
  const { code, output } = await ended({
    SCRIP_DATA_DIR: folder.path,
    SCRIP_PORT: "0",
    SCRIP_METRICS_PORT: "0",
    SCRIP_WORKERS: "64",
  });
  expect(code).toBe(1);
  expect(output).toContain("SCRIP_WORKERS=64 needs up to 2880 database connections");
  expect(output).toMatch(/Set SCRIP_WORKERS to \d+/);
  expect(output).not.toContain("    at ");
});
