import { type Database, type Queryable, textArray } from "@scrip/postgres";

import type { EventBus, EventEnvelope } from "./bus.ts";

/** An event as a service writes it: when it happened is what the database's clock says. */
export type OutboxEvent = Omit<EventEnvelope, "headers" | "occurredAt">;

/**
 * Writes events into the service's `outbox`. It must run in the transaction that makes them true, and
 * after that transaction has locked the row that `key` names: the lock is what orders the events of a
 * key (see `publishPending`).
 */
export async function enqueue(tx: Queryable, events: readonly OutboxEvent[]): Promise<void> {
  await tx.query({
    name: "outbox_enqueue",
    text: `insert into outbox (project_id, id, topic, key, type, payload)
           select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bytea[])`,
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

/** What the relay brings into memory at once; a single larger event still goes. */
const MAX_BATCH_BYTES = 4_194_304;

/**
 * Publishes the oldest rows of the outbox and then deletes them; answers how many. A crash in between
 * publishes them again, which consumers know by the id.
 *
 * Why the order of a key holds:
 * - Transactions commit out of the order they began in, so no position in the table is ever taken as
 *   done: a row is done when it is gone.
 * - A writer holds the lock of the key's row when it inserts, and `created_at` is the database's clock
 *   at that moment, not the start of the transaction. The next writer of the key inserts after the
 *   first has committed. So the rows of one key sort by (created_at, id) as they committed, and
 *   whoever sees one sees all earlier ones of its key that are left. The id decides within one
 *   insert: a process makes its ids in rising order. A key without a lock has no order to keep.
 * - What is published is therefore, for each key, a run of rows from the oldest on, in their order;
 *   and what is missing before it was published before. This holds for several relays at once too:
 *   they may repeat events, but the first time that an event appears on the bus comes after the first
 *   time of all before it. The lease of the relay only saves the double work.
 */
export async function publishPending(db: Database, bus: EventBus, limit: number): Promise<number> {
  const { rows } = await db.query<OutboxRow>({
    name: "outbox_oldest",
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
 * Found by the range of their times, so that the statement reads the oldest rows and nothing else: the
 * planner would rather read the whole table than look up hundreds of keys. A `Date` is cut to
 * milliseconds, so the range reaches one further.
 */
async function deletePublished(db: Queryable, rows: readonly OutboxRow[]): Promise<void> {
  const last = rows.at(-1)?.created_at.getTime() ?? 0;
  await db.query({
    name: "outbox_delete",
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

/** How many events wait, for a metric: counting stops at `limit`, where the exact number no longer matters. */
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
