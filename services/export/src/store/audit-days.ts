import {
  assignmentsFrom,
  batchOf,
  buildStatement,
  column,
  type ColumnTable,
  type PartitionedTable,
  type Queryable,
  textArray,
} from "@scrip/postgres";

import type { AuditDay, DayEnd } from "../audit-log/chain-entries.ts";
import { auditTable } from "./audit-entries.ts";

/** Has the partitions of the entries, so that a day and its entries are dropped together. */
export const auditDayTable = (keepMs: number): PartitionedTable => ({
  ...auditTable(keepMs),
  table: "audit_day",
  column: "day",
});

type Day = Pick<AuditDay, "projectId" | "day">;

const days = batchOf<Day>({
  project_id: column.text(({ projectId }) => projectId),
  day: column.timestamp(({ day }) => day),
});

/** Creates the days that do not exist, in key order. Waits briefly for transactions that create the same ones. */
export async function openDays(tx: Queryable, opened: readonly Day[]): Promise<void> {
  await tx.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
  await tx.query(openStatement({ days: opened }));
}

/** Longer than the transactions that lock days, which only store entries; keyed requests wait less for other locks. */
const LOCK_TIMEOUT_MS = 2_500;

const openStatement = buildStatement({
  planning: "indexLookups",
  parts: { days },
  text: ({ days: item }) => `
    insert into audit_day (project_id, day, entries, opened_at)
    select item.project_id, item.day, 0, clock_timestamp()
      from ${item.rows("item")}
     where not exists (
           select from audit_day d where d.project_id = item.project_id and d.day = item.day)
     order by item.project_id, item.day
        on conflict do nothing`,
});

type DayRow = {
  project_id: string;
  day: Date;
  entries: bigint;
  last_hash: Buffer | null;
  previous_day: Date | null;
  previous_position: bigint | null;
  previous_hash: Buffer | null;
};

/** Locks days until the transaction ends, in key order. */
export async function lockDays(
  tx: Queryable,
  locked: readonly Day[],
): Promise<readonly AuditDay[]> {
  const { rows } = await tx.query<DayRow>(lockStatement({ days: locked }));
  const empty = rows.filter(({ entries }) => entries === 0n).map((row) => row.project_id);
  const latest = empty.length === 0 ? new Map() : await findLatestEnds(tx, empty);
  return rows.map((row): AuditDay => ({
    projectId: row.project_id,
    day: row.day.getTime(),
    end: endOf(row.day, row.entries, row.last_hash),
    previous:
      row.entries === 0n
        ? (latest.get(row.project_id) ?? null)
        : endOf(row.previous_day, row.previous_position, row.previous_hash),
  }));
}

const endOf = (day: Date | null, position: bigint | null, hash: Buffer | null): DayEnd | null =>
  day === null || position === null || hash === null
    ? null
    : { day: day.getTime(), position, hash };

const lockStatement = buildStatement({
  planning: "indexLookups",
  parts: { days },
  text: ({ days: item }) => `
    select d.project_id, d.day, d.entries, d.last_hash, d.previous_day, d.previous_position, d.previous_hash
      from ${item.rows("item")}
      join audit_day d on d.project_id = item.project_id and d.day = item.day
     order by d.project_id, d.day
       for no key update of d`,
});

/** The end of the latest day with entries, by project. */
async function findLatestEnds(
  db: Queryable,
  projectIds: readonly string[],
): Promise<ReadonlyMap<string, DayEnd>> {
  const { rows } = await db.query<Pick<DayRow, "project_id" | "day" | "entries" | "last_hash">>(
    `select item.project_id, last.day, last.entries, last.last_hash
       from unnest($1::text[]) as item (project_id)
      cross join lateral (
            select d.day, d.entries, d.last_hash
              from audit_day d
             where d.project_id = item.project_id and d.entries > 0
             order by d.day desc
             limit 1) as last`,
    [textArray([...new Set(projectIds)])],
  );
  return new Map(
    rows.flatMap((row) => {
      const end = endOf(row.day, row.entries, row.last_hash);
      return end === null ? [] : [[row.project_id, end] as const];
    }),
  );
}

/** The days must be locked. */
export async function saveDays(tx: Queryable, saved: readonly AuditDay[]): Promise<void> {
  await tx.query(saveStatement({ days: saved }));
}

const changeable: ColumnTable<AuditDay> = {
  entries: column.int8(({ end }) => end?.position ?? 0n),
  last_hash: column.bytea(({ end }) => end && end.hash),
  previous_day: column.timestamp(({ previous }) => previous && previous.day),
  previous_position: column.int8(({ previous }) => previous && previous.position),
  previous_hash: column.bytea(({ previous }) => previous && previous.hash),
};

const saveStatement = buildStatement({
  planning: "indexLookups",
  parts: {
    days: batchOf<AuditDay>({
      project_id: column.text(({ projectId }) => projectId),
      day: column.timestamp(({ day }) => day),
      ...changeable,
    }),
  },
  text: ({ days: item }) => `
    update audit_day d
       set ${assignmentsFrom(changeable, "item")}
      from ${item.rows("item")}
     where d.project_id = item.project_id and d.day = item.day`,
});
