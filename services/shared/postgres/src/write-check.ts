import { randomInt } from "node:crypto";

import { CASELESS } from "./collation.ts";
import { type Database } from "./database.ts";
import { isUnavailable, sqlState } from "./errors.ts";

/** A random row, so that the checks of different processes rarely wait for each other. */
const slot = randomInt(1_024);

/**
 * Fails when the database of a service cannot be written. Where a disk is full, small writes still
 * succeed: they use the free space of a page and of the write-ahead log. So the check also writes a
 * temporary file, which needs new space (services/decisions/0031-readiness-writes.md). It also uses the
 * collation of the schema: a backup of an earlier release lacks it, and only filters would fail.
 */
export async function checkWrites(db: Database): Promise<void> {
  await db.transaction((tx) =>
    Promise.all([
      tx.query("set local work_mem = '64kB'; set local temp_tablespaces = ''"),
      tx.query("select count(*) from generate_series(1, 4000)"),
      tx.query(`select '' collate ${CASELESS}`),
      tx.query({
        text: `insert into write_check (slot, written_at) values ($1, clock_timestamp())
               on conflict (slot) do update set written_at = excluded.written_at`,
        values: [slot],
      }),
    ]),
  );
}

/** Part of every schema, as the table of migrations. */
export const WRITE_CHECK_TABLE =
  "create table if not exists write_check (slot smallint primary key, written_at timestamptz not null)";

export type WriteFailure =
  | "disk_full"
  | "read_only"
  | "schema_missing"
  | "not_permitted"
  | "unreachable"
  | "failed";

const FAILURES: readonly (readonly [RegExp, WriteFailure])[] = [
  [/^53100$/, "disk_full"],
  [/^25006$/, "read_only"],
  [/^(42P01|42704|3F000)$/, "schema_missing"],
  [/^(42501|28.*)$/, "not_permitted"],
];

/** Why the check failed, in a word that contains nothing of the installation. */
export function writeFailureOf(error: unknown): WriteFailure {
  const state = sqlState(error);
  const known = FAILURES.find(([pattern]) => state !== undefined && pattern.test(state));
  return known?.[1] ?? (isUnavailable(error) ? "unreachable" : "failed");
}
