import { appendFile, chmod, mkdir, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";

import { afterEach, expect, onTestFinished, test, vi } from "vitest";

import { startEmbeddedPostgres } from "../src/index.ts";
import { readLocation } from "../src/location.ts";
import { createFolder, query, serverPid, untilGone } from "./fixture/folder.ts";

afterEach(() => void vi.unstubAllEnvs());

test("keeps its data until the next start", async () => {
  await using folder = await createFolder();
  const messages: string[] = [];
  const log = (message: string): void => void messages.push(message);
  {
    await using server = await startEmbeddedPostgres({ dataDir: folder.path, log });
    await query(server.url, "create table kept as select 'ä€' as word");
  }
  expect(messages).toHaveLength(1);
  await using server = await startEmbeddedPostgres({ dataDir: folder.path, log });
  expect(messages).toHaveLength(1);
  expect(await query(server.url, "select word from kept")).toEqual([{ word: "ä€" }]);
});

test("commits durably, sorts UTF-8 text by its bytes, and uses UTC", async () => {
  await using folder = await createFolder();
  await using server = await startEmbeddedPostgres({ dataDir: folder.path });
  const names = ["fsync", "synchronous_commit", "full_page_writes", "server_encoding", "timezone"];
  const [row] = await query(
    server.url,
    `select ${names.map((name) => `current_setting('${name}') as ${name}`).join(", ")},
            datcollate as collation, 'B' < 'a' as is_byte_order
       from pg_database where datname = current_database()`,
  );
  expect(row).toEqual({
    fsync: "on",
    synchronous_commit: "on",
    full_page_writes: "on",
    server_encoding: "UTF8",
    timezone: "UTC",
    collation: "C",
    is_byte_order: true,
  });
});

test("a setting changed with alter system applies at the next start", async () => {
  await using folder = await createFolder();
  {
    await using server = await startEmbeddedPostgres({ dataDir: folder.path });
    await query(server.url, "alter system set max_connections = 42");
  }
  await using server = await startEmbeddedPostgres({ dataDir: folder.path });
  expect(await query(server.url, "show max_connections")).toEqual([{ max_connections: "42" }]);
});

test("other users of the machine can neither read the password nor connect without it", async () => {
  await using folder = await createFolder();
  await using server = await startEmbeddedPostgres({ dataDir: folder.path });
  for (const secret of ["postgres.password", "postgres"]) {
    const { mode } = await stat(path.join(folder.path, secret));
    expect(mode & 0o077, secret).toBe(0);
  }
  const guess = new URL(server.url);
  guess.password = "postgres";
  await expect(query(guess.href, "select 1")).rejects.toThrow("password authentication failed");
  expect(server.url).toContain("@127.0.0.1:");
});

test("a cancelled start fails, leaves no server behind, and can be repeated", async () => {
  await using folder = await createFolder();
  const making = new AbortController();
  const first = startEmbeddedPostgres({
    dataDir: folder.path,
    stop: making.signal,
    log: () => setTimeout(() => making.abort(), 50),
  });
  await expect(first).rejects.toThrow("abort");
  await (await startEmbeddedPostgres({ dataDir: folder.path }))[Symbol.asyncDispose]();
  expect(await readdir(folder.path)).not.toContain("scrip.lock");

  // A server in recovery is not ready before restore_command has ended.
  const data = path.join(folder.path, "postgres");
  await appendFile(path.join(data, "postgresql.auto.conf"), "restore_command = 'sleep 3; false'\n");
  await writeFile(path.join(data, "recovery.signal"), "");
  const launching = new AbortController();
  const second = startEmbeddedPostgres({ dataDir: folder.path, stop: launching.signal });
  const pid = () => serverPid(folder.path).catch(() => 0);
  await expect.poll(pid, { interval: 1, timeout: 60_000 }).toBeGreaterThan(0);
  const server = await pid();
  launching.abort();
  await expect(second).rejects.toThrow("abort");
  await untilGone(server);
});

test("starts in a folder that only its owner can enter", async () => {
  await using folder = await createFolder();
  const dataDir = path.join(folder.path, "deep/down");
  await mkdir(dataDir, { recursive: true });
  await chmod(folder.path, 0o700);
  await using server = await startEmbeddedPostgres({ dataDir });
  expect(await query(server.url, "select 1 as one")).toEqual([{ one: 1 }]);
});

test("starts in a folder whose name contains spaces", async () => {
  await using folder = await createFolder();
  const dataDir = path.join(folder.path, "my shop/data folder");
  await using server = await startEmbeddedPostgres({ dataDir });
  expect(await query(server.url, "select 1 as one")).toEqual([{ one: 1 }]);
});

/** Only root runs the server as another user, which cannot enter a folder of mode 0700. */
const isRoot = process.getuid?.() === 0;

test("without capabilities, stores the database where its account can enter, and logs the path", async () => {
  await using folder = await createFolder();
  vi.stubEnv("PATH", await pathWithout("setpriv", folder.path));
  const dataDir = path.join(folder.path, "data");
  const messages: string[] = [];
  const log = (message: string): void => void messages.push(message);
  {
    await using server = await startEmbeddedPostgres({ dataDir, log });
    await query(server.url, "create table kept as select 1 as one");
  }
  const location = await readLocation(dataDir);
  onTestFinished(() => rm(location, { recursive: true, force: true }));
  expect(location.startsWith(folder.path)).toBe(!isRoot);
  expect(messages.join("\n")).toContain(path.join(location, "postgres"));
  await using server = await startEmbeddedPostgres({ dataDir });
  expect(await query(server.url, "select one from kept")).toEqual([{ one: 1 }]);
});

test("moves a database that its account can no longer enter", async () => {
  await using folder = await createFolder();
  await chmod(folder.path, 0o755);
  const dataDir = path.join(folder.path, "data");
  {
    await using server = await startEmbeddedPostgres({ dataDir });
    await query(server.url, "create table kept as select 1 as one");
  }
  await chmod(folder.path, 0o700);
  vi.stubEnv("PATH", await pathWithout("setpriv", folder.path));
  await using server = await startEmbeddedPostgres({ dataDir });
  const location = await readLocation(dataDir);
  onTestFinished(() => rm(location, { recursive: true, force: true }));
  expect(location.startsWith(folder.path)).toBe(!isRoot);
  expect(await query(server.url, "select one from kept")).toEqual([{ one: 1 }]);
});

/** A PATH with every program of this machine but one. */
async function pathWithout(program: string, folder: string): Promise<string> {
  const programs = path.join(folder, "programs");
  await mkdir(programs);
  for (const entry of (process.env["PATH"] ?? "").split(path.delimiter)) {
    for (const name of await readdir(entry).catch(() => [])) {
      if (name === program) continue;
      await symlink(path.join(entry, name), path.join(programs, name)).catch(() => {});
    }
  }
  return programs;
}
