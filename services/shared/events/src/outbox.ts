import { type Database, type Queryable, textArray } from "@scrip/postgres";

import type { EventBus, EventEnvelope } from "./bus.ts";

/** An event as a service writes it; the clock of the database sets its time. */
export type OutboxEvent = Omit<EventEnvelope, "headers" | "occurredAt">;

/**
 * Inserts events into the service's `outbox`. Call it in the transaction of the change, after that
 * transaction has locked the row of `key`: the lock orders the events of a key (see
 * `publishPending`). An event that is there already was written by an earlier attempt of a request whose
 * ids derive from its idempotency key.
 */
export async function enqueue(tx: Queryable, events: readonly OutboxEvent[]): Promise<void> {
  await tx.query({
    name: "outbox_enqueue",
    text: `insert into outbox (project_id, id, topic, key, type, payload)
           select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bytea[])
           on conflict do nothing`,
    values: [
      events.map((event) => event.projectId),
      events.map((event) => event.id),
      events.map((event) => event.topic),
      events.map((event) => event.key),
      events.map((event) => event.type ?? null),
      events.map((event) => event.payload),
    ],
  });
}

type OutboxRow = {
  readonly project_id: string;
  readonly id: string;
  readonly topic: string;
  readonly key: string;
  readonly type: string | null;
  readonly payload: Uint8Array;
  readonly created_at: Date;
};

/** How much the relay reads into memory at once; a single larger event is still read. */
const MAX_BATCH_BYTES = 4_194_304;

/**
 * Publishes the oldest rows of the outbox and then deletes them; returns their number. A crash in
 * between publishes them again, which consumers detect by the id.
 *
 * Why the order of a key holds:
 * - Transactions commit out of the order in which they began, so no position in the table counts as
 *   done: a row is done when it is deleted.
 * - A writer holds the lock of the key's row when it inserts, and `created_at` is the clock of the
 *   database at that time, not at the start of the transaction. The next writer of the key inserts
 *   after the first has committed. So the rows of one key sort by (created_at, id) in commit order,
 *   and a reader that sees one row sees all remaining earlier rows of the key. Within one insert,
 *   the ascending ids of the process decide. A key without a lock has no order.
 * - For each key, the published rows are therefore a run from the oldest on, in their order;
 *   missing rows before it were published before. With several relays at once, events may repeat,
 *   but the first appearance of an event on the bus follows the first appearances of all before it.
 *   The lease of the relay only avoids double work.
 */
export async function publishPending(db: Database, bus: EventBus, limit: number): Promise<number> {
  const { rows } = await db.query<OutboxRow>({
    name: "outbox_oldest",
    planning: "indexLookups",
    text: `select project_id, id, topic, key, type, payload, created_at
             from (select oldest.*, octet_length(payload) as size,
                          sum(octet_length(payload)) over (order by created_at, id) as bytes
                     from (select * from outbox order by created_at, id limit $1) as oldest) as sized
            where bytes - size < $2
            order by created_at, id`,
    values: [limit, MAX_BATCH_BYTES],
  });
  if (rows.length === 0) return 0;
  await bus.publish(rows.map(fromRow));
  await deletePublished(db, rows);
  return rows.length;
}

/**
 * Deletes by the range of times, so that the statement reads the oldest rows only: the planner
 * would rather scan the table than look up hundreds of keys. A `Date` is cut to milliseconds, so
 * the range extends by one.
 */
async function deletePublished(db: Queryable, rows: readonly OutboxRow[]): Promise<void> {
  const last = rows.at(-1)?.created_at.getTime() ?? 0;
  await db.query({
    name: "outbox_delete",
    planning: "indexLookups",
    text: `delete from outbox
            where created_at >= $1 and created_at < $2
              and (project_id, id) in (select * from unnest($3::text[], $4::text[]))`,
    values: [
      rows[0]?.created_at,
      new Date(last + 1),
      textArray(rows.map((row) => row.project_id)),
      textArray(rows.map((row) => row.id)),
    ],
  });
}

/** The number of waiting events, for a metric: counts up to `limit` only. */
export async function countPending(db: Queryable, limit = 100_000): Promise<number> {
  const { rows } = await db.query<{ pending: number }>(
    "select count(*)::int as pending from (select from outbox limit $1) as waiting",
    [limit],
  );
  return rows[0]?.pending ?? 0;
}

const NO_HEADERS: EventEnvelope["headers"] = {};

const fromRow = (row: OutboxRow): EventEnvelope => ({
  id: row.id,
  topic: row.topic,
  key: row.key,
  projectId: row.project_id,
  ...(row.type !== null && { type: row.type }),
  payload: row.payload,
  headers: NO_HEADERS,
  occurredAt: row.created_at,
});
