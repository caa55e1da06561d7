import type { Queryable } from "@scrip/postgres";

import type { DeadLetter, DeliveredEvent } from "../bus.ts";
import { type EventRow, fromRow } from "./row-log.ts";

type DeadLetterRow = EventRow & {
  readonly error: string;
  readonly attempts: number;
  readonly buried_at: Date;
};

/** Enough of an error to find its cause. */
const MAX_ERROR_LENGTH = 4_000;

export type Burial = {
  readonly group: string;
  readonly event: DeliveredEvent;
  readonly error: unknown;
  readonly attempts: number;
};

/** Idempotent: a crash may have occurred before the offset was stored. */
export async function insertDeadLetter(db: Queryable, burial: Burial): Promise<void> {
  const { group, event, error, attempts } = burial;
  await db.query(
    `insert into bus_dead_letter (consumer_group, topic, partition, log_offset, id, project_id, key,
                                  type, headers, payload, occurred_at, error, attempts)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
         on conflict do nothing`,
    [
      group,
      event.topic,
      event.partition,
      event.offset,
      event.id,
      event.projectId,
      event.key,
      event.type ?? null,
      JSON.stringify(event.headers),
      event.payload,
      event.occurredAt,
      describe(error),
      attempts,
    ],
  );
}

export async function listDeadLetters(
  db: Queryable,
  group: string,
  limit: number,
): Promise<readonly DeadLetter[]> {
  const { rows } = await db.query<DeadLetterRow>(
    `select topic, partition, log_offset, id, project_id, key, type, headers, payload, occurred_at,
            error, attempts, buried_at
       from bus_dead_letter
      where consumer_group = $1
      order by buried_at, topic, partition, log_offset
      limit $2`,
    [group, limit],
  );
  return rows.map((row) => ({
    event: fromRow(row),
    error: row.error,
    attempts: row.attempts,
    buriedAt: row.buried_at,
  }));
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
