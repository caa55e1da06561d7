import {
  buildStatement,
  column,
  columnNames,
  type ColumnTable,
  type Queryable,
  rowOf,
} from "@scrip/postgres";

import type { DeadLetter, DeadLetterFilter, DeliveredEvent } from "../bus.ts";
import { type EventRow, fromRow } from "./row-log.ts";

type DeadLetterRow = EventRow & {
  readonly schema_version: number | null;
  readonly entity_version: bigint | null;
  readonly epoch: number | null;
  readonly consumer_group: string;
  readonly error: string;
  readonly attempts: number;
  readonly buried_at: Date;
};

/** Enough of an error to find its cause. */
const MAX_ERROR_LENGTH = 4_000;

export type NewDeadLetter = {
  readonly group: string;
  readonly event: DeliveredEvent;
  readonly error: unknown;
  readonly attempts: number;
};

const eventColumns: ColumnTable<NewDeadLetter> = {
  topic: column.text(({ event }) => event.topic),
  partition: column.int4(({ event }) => event.partition),
  log_offset: column.int8(({ event }) => event.offset),
  id: column.text(({ event }) => event.id),
  project_id: column.text(({ event }) => event.projectId),
  key: column.text(({ event }) => event.key),
  type: column.text(({ event }) => event.type ?? null),
  schema_version: column.single("int4", ({ event }) => event.schemaVersion ?? null),
  entity_version: column.int8(({ event }) => event.entityVersion ?? null),
  epoch: column.single("int4", ({ event }) => event.epoch ?? null),
  headers: column.json(({ event }) => JSON.stringify(event.headers)),
  payload: column.bytea(({ event }) => event.payload),
  occurred_at: column.single("timestamptz", ({ event }) => event.occurredAt),
  error: column.text(({ error }) => describe(error)),
  attempts: column.int4(({ attempts }) => attempts),
};

const insertStatement = buildStatement({
  parts: {
    row: rowOf<NewDeadLetter>({
      consumer_group: column.text(({ group }) => group),
      ...eventColumns,
    }),
  },
  text: ({ row }) =>
    `insert into bus_dead_letter (${row.columns}) values (${row.values}) on conflict do nothing`,
});

/** Idempotent: a crash may have occurred before the offset was stored. */
export async function insertDeadLetter(db: Queryable, letter: NewDeadLetter): Promise<void> {
  await db.query(insertStatement({ row: letter }));
}

export async function listDeadLetters(
  db: Queryable,
  { group, topic, partition, offset }: DeadLetterFilter,
  limit: number,
): Promise<readonly DeadLetter[]> {
  const { rows } = await db.query<DeadLetterRow>(
    `select consumer_group, ${columnNames(eventColumns)}, buried_at
       from bus_dead_letter
      where ($1::text is null or consumer_group = $1)
        and ($2::text is null or topic = $2)
        and ($3::int is null or partition = $3)
        and ($4::bigint is null or log_offset = $4)
      order by buried_at, consumer_group, topic, partition, log_offset
      limit $5`,
    [group ?? null, topic ?? null, partition ?? null, offset ?? null, limit],
  );
  return rows.map((row) => ({
    group: row.consumer_group,
    event: {
      ...fromRow(row),
      ...(row.schema_version !== null && { schemaVersion: row.schema_version }),
      ...(row.entity_version !== null && { entityVersion: row.entity_version }),
      ...(row.epoch !== null && { epoch: row.epoch }),
    },
    error: row.error,
    attempts: row.attempts,
    buriedAt: row.buried_at,
  }));
}

/** Dead letters that are counted at most. */
const MAX_COUNTED = 10_000;

export async function countDeadLetters(db: Queryable): Promise<ReadonlyMap<string, number>> {
  const { rows } = await db.query<{ consumer_group: string; letters: number }>(
    `select consumer_group, count(*)::int as letters
       from (select consumer_group from bus_dead_letter limit ${MAX_COUNTED}) as letter
      group by consumer_group`,
  );
  return new Map(rows.map((row) => [row.consumer_group, row.letters]));
}

export async function deleteDeadLetter(
  tx: Queryable,
  group: string,
  event: DeliveredEvent,
): Promise<"deleted" | "gone"> {
  const { rowCount } = await tx.query(
    `delete from bus_dead_letter
      where consumer_group = $1 and topic = $2 and partition = $3 and log_offset = $4`,
    [group, event.topic, event.partition, event.offset],
  );
  return rowCount === 1 ? "deleted" : "gone";
}

/** Postgres does not store NUL in text. */
const describe = (error: unknown): string =>
  (error instanceof Error ? (error.stack ?? error.message) : String(error))
    .replaceAll("\0", "")
    .slice(0, MAX_ERROR_LENGTH);
