import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";

import { MigrationError } from "./migration-error.ts";

/** One numbered file of plain SQL. */
export type Migration = {
  readonly name: string;
  readonly sql: string;
  readonly sha256: string;
  /**
   * The number in a first line `-- contract 0012`: older programs, which have no migration 0012, do not work on the
   * schema any more. Undefined for a migration that only expands: all older programs still work.
   */
  readonly contract: string | undefined;
  /**
   * Set by a line `-- without a transaction`, for `create index concurrently`: each statement runs by itself. A migration
   * that fails halfway begins again, so its statements must be repeatable: `create index concurrently if not exists` replaces
   * an index that an interruption left invalid.
   */
  readonly statements: readonly string[] | undefined;
};

const FILE_NAME = /^\d{4}_[a-z0-9_]+\.sql$/;
const NUMBER_LENGTH = 4;

/** A row of the table of applied migrations. */
export type AppliedMigration = {
  readonly name: string;
  readonly sha256: string;
  readonly contract: string | null;
};

/** Whether a program whose last migration is `lastKnown` works on a schema with this one of a later release. */
export const isCompatible = (
  { name, contract }: Pick<AppliedMigration, "name" | "contract">,
  lastKnown: string,
): boolean => name > lastKnown && (contract === null || contract <= numberOf(lastKnown));

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
  return {
    name,
    sql,
    sha256: createHash("sha256").update(sql).digest("hex"),
    contract: parseContract(name, sql),
    statements: /^-- without a transaction$/m.test(sql) ? sql.split(/;$/m) : undefined,
  };
}

function parseContract(name: string, sql: string): string | undefined {
  const line = sql.split("\n", 1)[0] ?? "";
  if (!/^--\s*contract\b/i.test(line)) return undefined;
  const number = /^-- contract (\d{4})$/.exec(line)?.[1];
  if (number === undefined || number > numberOf(name)) {
    throw new MigrationError(
      `${name} begins with ${JSON.stringify(line)}: it must be "-- contract" and the number of the oldest migration that a ` +
        `program must have to work on the schema, at most ${numberOf(name)}.`,
    );
  }
  return number;
}
