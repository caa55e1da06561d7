import { listProjectsIn, type Queryable } from "@scrip/postgres";

import type {
  AuditScope,
  ChainEnd,
  DayRecord,
  EntryRecord,
  ProjectRecords,
} from "../audit-log/audit-records.ts";

const ENTRIES = 1_000;

const utc = (column: string, format: string): string =>
  `to_char(${column} at time zone 'UTC', '${format}')`;

const DATE = "YYYY-MM-DD";
const TIME = `YYYY-MM-DD"T"HH24:MI:SS.MS"Z"`;

const DAY_RECORD = `
  ${utc("day", DATE)} as day, entries::text, encode(last_hash, 'hex') as last_hash,
  ${utc("previous_day", DATE)} as previous_day, previous_position::text, encode(previous_hash, 'hex') as previous_hash`;

const ENTRY_RECORD = `
  project_id, id, action, resource, resource_id, fields, actor_type, actor_id, request_id,
  ${utc("occurred_at", TIME)} as occurred_at, position::text,
  encode(previous_hash, 'hex') as previous_hash, encode(hash, 'hex') as hash`;

/** The scope of the audit log, from this day on if it is provided. */
export async function readAuditScope(db: Queryable, since: string | null): Promise<AuditScope> {
  const { rows } = await db.query<{ oldest: string | null; chained: string | null }>(
    `select ${utc("min(day)", DATE)} as oldest, ${utc("min(opened_at)", TIME)} as chained from audit_day`,
  );
  const [{ oldest, chained } = { oldest: null, chained: null }] = rows;
  return {
    oldestDay: [oldest ?? "", since ?? ""].toSorted().at(-1) ?? "",
    // Without any chain, no entry has to be in one.
    chainedSince: since ?? chained ?? "9999",
  };
}

/** All projects with entries, also those that are deleted. */
export async function listAuditProjects(db: Queryable): Promise<readonly string[]> {
  const ofDays = await listProjectsIn(db, "audit_day");
  return [...new Set([...ofDays, ...(await listProjectsIn(db, "audit_entry"))])].toSorted();
}

/**
 * Reads the days and entries of a project in one snapshot, from this day on if it is provided: concurrent additions do not
 * appear as faults. The memory does not depend on the number of entries. Needs a connection of its own, without a transaction.
 */
export async function withAuditProject<Result>(
  connection: Queryable,
  { projectId, since }: { readonly projectId: string; readonly since: string | null },
  use: (records: ProjectRecords) => Promise<Result>,
): Promise<Result> {
  await connection.query("begin isolation level repeatable read read only");
  try {
    const from = `${since ?? "0001-01-01"}T00:00:00Z`;
    const { rows: days } = await connection.query<DayRecord>(
      `select ${DAY_RECORD} from audit_day where project_id = $1 and day >= $2::timestamptz order by audit_day.day`,
      [projectId, from],
    );
    return await use({ projectId, days, entries: readEntries(connection, projectId, from) });
  } finally {
    await connection.query("commit");
  }
}

async function* readEntries(
  connection: Queryable,
  projectId: string,
  from: string,
): AsyncGenerator<EntryRecord> {
  await connection.query(
    `declare entries cursor for
     select ${ENTRY_RECORD} from audit_entry
      where project_id = $1 and occurred_at >= $2::timestamptz
      order by date_trunc('day', occurred_at, 'UTC'), audit_entry.position, id`,
    [projectId, from],
  );
  for (;;) {
    const { rows } = await connection.query<EntryRecord>(`fetch ${ENTRIES} from entries`);
    yield* rows;
    if (rows.length < ENTRIES) break;
  }
  await connection.query("close entries");
}

/** The ends of all chains, which prove later that no entry of them was changed. */
export async function readChainEnds(db: Queryable): Promise<readonly ChainEnd[]> {
  const { rows } = await db.query<ChainEnd>(
    `select project_id, ${utc("day", DATE)} as day, entries::text as position, encode(last_hash, 'hex') as hash
       from audit_day
      where entries > 0
      order by project_id, audit_day.day`,
  );
  return rows;
}
