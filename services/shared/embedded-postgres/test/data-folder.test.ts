import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";

import { expect, test } from "vitest";

import { DataFolderError, findEmbeddedPostgres, startEmbeddedPostgres } from "../src/index.ts";
import { givenFolder, query, serverPid, untilGone } from "./fixture/folder.ts";
import { startHolder } from "./fixture/holder.ts";

async function refusalOf(dataDir: string): Promise<string> {
  const error = await startEmbeddedPostgres({ dataDir }).then(
    () => undefined,
    (cause: unknown) => cause,
  );
  expect(error).toBeInstanceOf(DataFolderError);
  return (error as DataFolderError).message;
}

test("a second process is told which one has the folder", async () => {
  await using folder = await givenFolder();
  const holder = await startHolder(folder.path);
  const message = await refusalOf(folder.path);
  expect(message).toContain(`${folder.path} is in use by process ${holder.pid}.`);
  expect(await query(holder.url, "select 1 as one")).toEqual([{ one: 1 }]);
  await holder.end("SIGTERM");
});

test("the server that another process runs in a folder is found, and only while it runs", async () => {
  await using folder = await givenFolder();
  expect(await findEmbeddedPostgres(folder.path)).toBeUndefined();
  const holder = await startHolder(folder.path);
  const pid = await serverPid(folder.path);
  expect(await findEmbeddedPostgres(folder.path)).toBe(holder.url);
  await holder.end("SIGKILL");
  expect(await findEmbeddedPostgres(folder.path)).toBeUndefined();
  await untilGone(pid);
});

test("of many starts at once in one folder one wins", async () => {
  await using folder = await givenFolder();
  await (await startEmbeddedPostgres({ dataDir: folder.path }))[Symbol.asyncDispose]();
  await writeFile(path.join(folder.path, "scrip.lock"), "999999999 1");
  const starts = Array.from({ length: 8 }, () => startEmbeddedPostgres({ dataDir: folder.path }));
  const results = await Promise.allSettled(starts);
  const won = results.filter((result) => result.status === "fulfilled");
  expect(won).toHaveLength(1);
  for (const { value } of won) await value[Symbol.asyncDispose]();
  expect(await readdir(folder.path)).not.toContain("scrip.lock");
});

test("the lock of a process that is gone is taken over, also when its number is in use", async () => {
  await using folder = await givenFolder();
  await writeFile(path.join(folder.path, "scrip.lock"), `${process.ppid} 1`);
  await using server = await startEmbeddedPostgres({ dataDir: folder.path });
  expect(await query(server.url, "select 1 as one")).toEqual([{ one: 1 }]);
});

test("a file is not a data folder", async () => {
  await using folder = await givenFolder();
  const file = path.join(folder.path, "file");
  await writeFile(file, "");
  expect(await refusalOf(file)).toBe(
    `The data folder ${file} is not a folder. Set SCRIP_DATA_DIR to another one.`,
  );
});

test("a folder that the system refuses to make is named, and the start ends", async () => {
  expect(await refusalOf("/proc/scrip/data")).toContain(
    "The data folder /proc/scrip/data cannot be made: Error: ENOENT",
  );
});

test("something else in the place of the database is left alone and named", async () => {
  await using folder = await givenFolder();
  const data = path.join(folder.path, "postgres");
  await mkdir(data);
  await writeFile(path.join(data, "holiday.jpg"), "");
  expect(await refusalOf(folder.path)).toContain(`${data} is not a readable PostgreSQL folder`);
  expect(await readdir(data)).toEqual(["holiday.jpg"]);
});

test("the folder of another PostgreSQL is named with its version", async () => {
  await using folder = await givenFolder();
  const data = path.join(folder.path, "postgres");
  await mkdir(data);
  await writeFile(path.join(data, "PG_VERSION"), "16\n");
  expect(await refusalOf(folder.path)).toContain("was made by PostgreSQL 16, and this is 18.");
});

test("a first start that was interrupted begins again", async () => {
  await using folder = await givenFolder();
  const unfinished = path.join(folder.path, "postgres.unfinished");
  await mkdir(unfinished);
  await writeFile(path.join(unfinished, "PG_VERSION"), "18\n");
  await using server = await startEmbeddedPostgres({ dataDir: folder.path });
  expect(await query(server.url, "select 1 as one")).toEqual([{ one: 1 }]);
  expect(await readdir(folder.path)).not.toContain("postgres.unfinished");
});

test("a damaged database says what PostgreSQL says, and what to do", async () => {
  await using folder = await givenFolder();
  await (await startEmbeddedPostgres({ dataDir: folder.path }))[Symbol.asyncDispose]();
  await rm(path.join(folder.path, "postgres/global/pg_control"));
  const message = await refusalOf(folder.path);
  expect(message).toContain("could not find the database system");
  expect(message).toContain(`Restore ${folder.path} from a backup`);
});

test("a database without its password says so", async () => {
  await using folder = await givenFolder();
  await (await startEmbeddedPostgres({ dataDir: folder.path }))[Symbol.asyncDispose]();
  await rm(path.join(folder.path, "postgres.password"));
  expect(await refusalOf(folder.path)).toContain("postgres.password cannot be read");
});
