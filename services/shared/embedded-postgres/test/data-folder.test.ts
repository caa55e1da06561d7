import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";

import { afterAll, expect, test } from "vitest";

import { DataFolderError, findEmbeddedPostgres, startEmbeddedPostgres } from "../src/index.ts";
import {
  createFolder,
  createStartedFolder,
  query,
  serverPid,
  untilGone,
} from "./fixture/folder.ts";
import { startHolder } from "./fixture/holder.ts";

const started = await createStartedFolder();
afterAll(() => started[Symbol.asyncDispose]());

async function startErrorOf(dataDir: string): Promise<string> {
  const error = await startEmbeddedPostgres({ dataDir }).then(
    () => undefined,
    (cause: unknown) => cause,
  );
  expect(error).toBeInstanceOf(DataFolderError);
  return (error as DataFolderError).message;
}

test("a second start names the process that uses the folder", async () => {
  await using folder = await started.copy();
  const holder = await startHolder(folder.path);
  const message = await startErrorOf(folder.path);
  expect(message).toContain(`${folder.path} is in use by process ${holder.pid}.`);
  expect(await query(holder.url, "select 1 as one")).toEqual([{ one: 1 }]);
  await holder.end("SIGTERM");
});

test("findEmbeddedPostgres returns the server of another process only while it runs", async () => {
  await using folder = await started.copy();
  expect(await findEmbeddedPostgres(folder.path)).toBeUndefined();
  const holder = await startHolder(folder.path);
  const pid = await serverPid(folder.path);
  expect(await findEmbeddedPostgres(folder.path)).toBe(holder.url);
  await holder.end("SIGKILL");
  expect(await findEmbeddedPostgres(folder.path)).toBeUndefined();
  await untilGone(pid);
});

test("exactly one of many concurrent starts in one folder succeeds", async () => {
  await using folder = await started.copy();
  await writeFile(path.join(folder.path, "scrip.lock"), "999999999 1");
  const starts = Array.from({ length: 8 }, () => startEmbeddedPostgres({ dataDir: folder.path }));
  const results = await Promise.allSettled(starts);
  const won = results.filter((result) => result.status === "fulfilled");
  expect(won).toHaveLength(1);
  for (const { value } of won) await value[Symbol.asyncDispose]();
  expect(await readdir(folder.path)).not.toContain("scrip.lock");
});

test("takes over the lock of an ended process, even if another process has its pid", async () => {
  await using folder = await started.copy();
  await writeFile(path.join(folder.path, "scrip.lock"), `${process.ppid} 1`);
  await using server = await startEmbeddedPostgres({ dataDir: folder.path });
  expect(await query(server.url, "select 1 as one")).toEqual([{ one: 1 }]);
});

test("rejects a data folder that is a file", async () => {
  await using folder = await createFolder();
  const file = path.join(folder.path, "file");
  await writeFile(file, "");
  expect(await startErrorOf(file)).toBe(
    `The data folder ${file} is not a folder. Set SCRIP_DATA_DIR to another folder.`,
  );
});

test.each(['a"b', "a`b", "a$b"])(
  "rejects the folder name %j, which pg_ctl cannot handle",
  async (name) => {
    await using folder = await createFolder();
    expect(await startErrorOf(path.join(folder.path, name))).toContain("pg_ctl cannot handle");
  },
);

test("names a folder that the system cannot create", async () => {
  expect(await startErrorOf("/proc/scrip/data")).toContain(
    "The data folder /proc/scrip/data cannot be created: ENOENT",
  );
});

test("names a folder that contains no database, and leaves it unchanged", async () => {
  await using folder = await createFolder();
  const data = path.join(folder.path, "postgres");
  await mkdir(data);
  await writeFile(path.join(data, "holiday.jpg"), "");
  expect(await startErrorOf(folder.path)).toContain(`${data} is not a readable PostgreSQL folder`);
  expect(await readdir(data)).toEqual(["holiday.jpg"]);
});

test("names the version of a folder of another PostgreSQL, and what to do", async () => {
  await using folder = await createFolder();
  const data = path.join(folder.path, "postgres");
  await mkdir(data);
  await writeFile(path.join(data, "PG_VERSION"), "16\n");
  expect(await startErrorOf(folder.path)).toContain(
    "was created by PostgreSQL 16, and this Scrip runs PostgreSQL 18.",
  );
});

test("repeats a first start that was interrupted", async () => {
  await using folder = await createFolder();
  const unfinished = path.join(folder.path, "postgres.unfinished");
  await mkdir(unfinished);
  await writeFile(path.join(unfinished, "PG_VERSION"), "18\n");
  await using server = await startEmbeddedPostgres({ dataDir: folder.path });
  expect(await query(server.url, "select 1 as one")).toEqual([{ one: 1 }]);
  expect(await readdir(folder.path)).not.toContain("postgres.unfinished");
});

test("a damaged database fails with the error of PostgreSQL and a remedy", async () => {
  await using folder = await started.copy();
  await rm(path.join(folder.path, "postgres/global/pg_control"));
  const message = await startErrorOf(folder.path);
  expect(message).toContain("could not find the database system");
  expect(message).toContain(`Restore ${folder.path} from a backup`);
});

test("names the missing password file of a database", async () => {
  await using folder = await started.copy();
  await rm(path.join(folder.path, "postgres.password"));
  expect(await startErrorOf(folder.path)).toContain("postgres.password cannot be read");
});
