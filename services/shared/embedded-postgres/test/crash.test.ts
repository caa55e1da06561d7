import { execFileSync, spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import path from "node:path";

import { Client } from "pg";
import { afterAll, expect, test } from "vitest";

import { startEmbeddedPostgres } from "../src/index.ts";
import { createStartedFolder, isRunning, query, serverPid, untilGone } from "./fixture/folder.ts";
import { startHolder } from "./fixture/holder.ts";

const started = await createStartedFolder();
afterAll(() => started[Symbol.asyncDispose]());

test("keeps every acknowledged commit through kill -9 of the process", async () => {
  await using folder = await started.copy();
  const holder = await startHolder(folder.path);
  await query(holder.url, "create table entry (n int primary key)");
  const client = new Client({ connectionString: holder.url });
  client.on("error", () => {});
  await client.connect();
  let acknowledged = 0;
  let killed: Promise<unknown> | undefined;
  const writing = (async () => {
    for (;;) {
      await client.query("insert into entry values ($1)", [acknowledged + 1]);
      acknowledged += 1;
      if (acknowledged === 100) killed = holder.end("SIGKILL");
    }
  })();
  await expect(writing).rejects.toThrow(Error);
  await killed;

  await using server = await startEmbeddedPostgres({ dataDir: folder.path });
  const [row] = await query(server.url, "select count(*)::int as rows from entry");
  expect(acknowledged).toBeGreaterThanOrEqual(100);
  // The last one may have committed without a response.
  expect([acknowledged, acknowledged + 1]).toContain(row?.["rows"]);
});

test.each(["SIGKILL", "SIGTERM", "SIGINT"] as const)(
  "a process that %s ends leaves no server behind",
  async (signal) => {
    await using folder = await started.copy();
    const holder = await startHolder(folder.path);
    const pid = await serverPid(folder.path);
    expect(isRunning(pid)).toBe(true);
    await holder.end(signal);
    await untilGone(pid);
  },
);

test("the next start stops a server that outlived its process", async () => {
  await using folder = await started.copy();
  const holder = await startHolder(folder.path);
  const orphan = await serverPid(folder.path);
  await query(holder.url, "create table kept as select 1 as one");
  process.kill(holder.watchdogPid, "SIGKILL");
  await holder.end("SIGKILL");
  expect(isRunning(orphan)).toBe(true);

  await using server = await startEmbeddedPostgres({ dataDir: folder.path });
  await untilGone(orphan);
  expect(await query(server.url, "select one from kept")).toEqual([{ one: 1 }]);
});

test("restarts a killed server at the same address with its data, every time", async () => {
  await using folder = await started.copy();
  const acknowledged: string[] = [];
  const warn = (message: string): void => void acknowledged.push(message);
  let last = 0;
  {
    await using server = await startEmbeddedPostgres({ dataDir: folder.path, warn });
    await query(server.url, "create table kept as select 1 as one");
    for (const time of [1, 2]) {
      const killed = await serverPid(folder.path);
      process.kill(killed, "SIGKILL");
      await expect.poll(() => acknowledged, { timeout: 60_000 }).toHaveLength(2 * time);
      expect(await query(server.url, "select one from kept")).toEqual([{ one: 1 }]);
      expect(acknowledged.at(-2)).toContain(`(process ${killed}) has ended`);
      last = await serverPid(folder.path);
      expect(last).not.toBe(killed);
    }
  }
  await untilGone(last);
  expect(acknowledged).toHaveLength(4);
});

test("a restarted server also ends with its process", async () => {
  await using folder = await started.copy();
  const holder = await startHolder(folder.path);
  const first = await serverPid(folder.path);
  process.kill(first, "SIGKILL");
  const isWatched = async () => {
    const now = await serverPid(folder.path).catch(() => first);
    return now !== first && holder.watches(now);
  };
  await expect.poll(isWatched, { timeout: 60_000 }).toBe(true);
  const pid = await serverPid(folder.path);
  expect(await query(holder.url, "select 1 as one")).toEqual([{ one: 1 }]);
  await holder.end("SIGKILL");
  await untilGone(pid);
});

test("a server killed just before its stop recovers at the next start", async () => {
  await using folder = await started.copy();
  {
    await using server = await startEmbeddedPostgres({ dataDir: folder.path });
    await query(server.url, "create table kept as select 1 as one");
    const pid = await serverPid(folder.path);
    process.kill(pid, "SIGKILL");
    await untilGone(pid);
  }
  await using server = await startEmbeddedPostgres({ dataDir: folder.path });
  expect(await query(server.url, "select one from kept")).toEqual([{ one: 1 }]);
});

test.runIf(process.getuid?.() === 0)(
  "a root that may not look into other users' processes stops its server all the same",
  async () => {
    await using folder = await started.copy();
    const entry = new URL("../src/index.ts", import.meta.url);
    const program = `import { startEmbeddedPostgres } from ${JSON.stringify(entry)};
      import { readFileSync } from "node:fs";
      const dataDir = ${JSON.stringify(folder.path)};
      const server = await startEmbeddedPostgres({ dataDir });
      console.log(readFileSync(dataDir + "/postgres/postmaster.pid", "utf8").split("\\n")[0]);
      await server[Symbol.asyncDispose]();`;
    const limits = ["--bounding-set=-sys_ptrace", "--inh-caps=-sys_ptrace"];
    const node = [process.execPath, "--input-type=module", "--eval", program];
    const pid = Number(execFileSync("setpriv", [...limits, ...node], { encoding: "utf8" }));
    expect(pid).toBeGreaterThan(0);
    await untilGone(pid);
  },
);

test("does not stop another process that has the number left by a crash", async () => {
  await using folder = await started.copy();
  const bystander = spawn("sleep", ["60"]);
  const data = path.join(folder.path, "postgres");
  await writeFile(path.join(data, "postmaster.pid"), `${bystander.pid}\n${data}\n1\n5432\n\n\n`);
  {
    await using server = await startEmbeddedPostgres({ dataDir: folder.path });
    expect(await query(server.url, "select 1 as one")).toEqual([{ one: 1 }]);
  }
  expect(isRunning(bystander.pid ?? 0)).toBe(true);
  bystander.kill();
});
