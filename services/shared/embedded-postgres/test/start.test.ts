import { appendFile, chmod, mkdir, readdir, stat, writeFile } from "node:fs/promises";
import path from "node:path";

import { expect, test } from "vitest";

import { startEmbeddedPostgres } from "../src/index.ts";
import { givenFolder, query, serverPid, untilGone } from "./fixture/folder.ts";

test("the data is there at the next start", async () => {
  await using folder = await givenFolder();
  const told: string[] = [];
  const log = (message: string): void => void told.push(message);
  {
    await using server = await startEmbeddedPostgres({ dataDir: folder.path, log });
    await query(server.url, "create table kept as select 'ä€' as word");
  }
  expect(told).toHaveLength(1);
  await using server = await startEmbeddedPostgres({ dataDir: folder.path, log });
  expect(told).toHaveLength(1);
  expect(await query(server.url, "select word from kept")).toEqual([{ word: "ä€" }]);
});

test("commits are durable, text is UTF-8 in the order of its bytes, time is UTC", async () => {
  await using folder = await givenFolder();
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

test("a setting that an operator alters holds at the next start", async () => {
  await using folder = await givenFolder();
  {
    await using server = await startEmbeddedPostgres({ dataDir: folder.path });
    await query(server.url, "alter system set max_connections = 42");
  }
  await using server = await startEmbeddedPostgres({ dataDir: folder.path });
  expect(await query(server.url, "show max_connections")).toEqual([{ max_connections: "42" }]);
});

test("other users of the machine neither see the password nor get in without it", async () => {
  await using folder = await givenFolder();
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

test("a start that is stopped fails, leaves no server behind, and can be begun again", async () => {
  await using folder = await givenFolder();
  const making = new AbortController();
  const first = startEmbeddedPostgres({
    dataDir: folder.path,
    stop: making.signal,
    log: () => setTimeout(() => making.abort(), 50),
  });
  await expect(first).rejects.toThrow("abort");
  await (await startEmbeddedPostgres({ dataDir: folder.path }))[Symbol.asyncDispose]();
  expect(await readdir(folder.path)).not.toContain("scrip.lock");

  // A server that has to ask for what it lacks is not ready before the answer comes.
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

test("a folder that only its owner may enter will do", async () => {
  await using folder = await givenFolder();
  const dataDir = path.join(folder.path, "deep/down");
  await mkdir(dataDir, { recursive: true });
  await chmod(folder.path, 0o700);
  await using server = await startEmbeddedPostgres({ dataDir });
  expect(await query(server.url, "select 1 as one")).toEqual([{ one: 1 }]);
});
