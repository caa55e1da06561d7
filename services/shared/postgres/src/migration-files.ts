import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";

import { MigrationError } from "./migration-error.ts";

/** One numbered file of plain SQL. */
export type Migration = { readonly name: string; readonly sql: string; readonly sha256: string };

const FILE_NAME = /^\d{4}_[a-z0-9_]+\.sql$/;
const NUMBER_LENGTH = 4;

/** The migrations of a folder, in the order of application. */
export async function readMigrations(folder: string): Promise<readonly Migration[]> {
  const names = (await readdir(folder)).filter((file) => file.endsWith(".sql")).toSorted();
  for (const [index, name] of names.entries()) {
    if (!FILE_NAME.test(name)) {
      throw new MigrationError(`${name} is no name of a migration: it must be like 0001_what.sql`);
    }
    const before = names[index - 1];
    if (before !== undefined && numberOf(before) === numberOf(name)) {
      throw new MigrationError(`${before} and ${name} have the same number`);
    }
  }
  return Promise.all(names.map((name) => readMigration(folder, name)));
}

const numberOf = (name: string): string => name.slice(0, NUMBER_LENGTH);

async function readMigration(folder: string, name: string): Promise<Migration> {
  // A checkout may have other line endings, which are no change.
  const sql = (await readFile(path.join(folder, name), "utf8")).replaceAll("\r\n", "\n");
  return { name, sql, sha256: createHash("sha256").update(sql).digest("hex") };
}
