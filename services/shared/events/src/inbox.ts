import { type Database, type Queryable, textArray } from "@scrip/postgres";

import type { DeliveredEvent, EventHandler } from "./bus.ts";

export type InboxWork<Item> = {
  /** The consumer whose inbox records the handled events. */
  readonly consumer: string;
  /** What the consumer needs of an event; undefined skips the event, without a record. */
  readonly read: (event: DeliveredEvent) => Item | undefined;
  /** Applies new events, in the transaction that records them. */
  readonly work: (tx: Queryable, items: readonly Item[]) => Promise<void>;
};

/**
 * A handler that runs `work` for an event the first time that `consumer` receives its id, and never
 * again, also within one batch. The record commits with the work, so a crash in between repeats
 * both.
 */
export const inboxHandler =
  <Item>(db: Database, { consumer, read, work }: InboxWork<Item>): EventHandler =>
  async (batch) => {
    const items = new Map<DeliveredEvent, Item>();
    for (const event of batch) {
      const one = read(event);
      if (one !== undefined) items.set(event, one);
    }
    if (items.size === 0) return;
    await db.transaction(async (tx) => {
      const fresh = await takeFresh(tx, consumer, [...items.keys()]);
      if (fresh.length === 0) return;
      await work(
        tx,
        fresh.map((event) => items.get(event) as Item),
      );
    });
  };

/**
 * Inserts the events into the inbox and returns the new ones, in their order and each once. It
 * waits for a concurrent transaction with one of them: when that commits, the event is no longer
 * new; when it fails, it is. All batches are in the order of the log, so two of them never
 * deadlock.
 */
async function takeFresh(
  tx: Queryable,
  consumer: string,
  batch: readonly DeliveredEvent[],
): Promise<readonly DeliveredEvent[]> {
  const { rows } = await tx.query<{ project_id: string; event_id: string }>({
    name: "inbox_take",
    text: `insert into inbox (project_id, consumer, event_id)
           select project_id, $1, event_id
             from unnest($2::text[], $3::text[]) as seen (project_id, event_id)
               on conflict do nothing
        returning project_id, event_id`,
    values: [
      consumer,
      textArray(batch.map((event) => event.projectId)),
      textArray(batch.map((event) => event.id)),
    ],
  });
  const fresh = new Set(rows.map((row) => `${row.project_id}:${row.event_id}`));
  // Deleting removes repetitions within the batch.
  return batch.filter((event) => fresh.delete(`${event.projectId}:${event.id}`));
}

const TRIM_CHUNK = 5_000;

/**
 * Deletes records older than `keepMs` in short statements; returns the number of deleted rows. An id must be retained
 * longer than the log retains its event for a group that has not handled it.
 */
export async function trimInbox(db: Database, keepMs: number): Promise<number> {
  let trimmed = 0;
  for (;;) {
    const { rowCount } = await db.query(
      `delete from inbox
        where (project_id, consumer, event_id) in (
              select project_id, consumer, event_id
                from inbox
               where seen_at < clock_timestamp() - $1 * interval '1 millisecond'
               order by seen_at
               limit $2)`,
      [keepMs, TRIM_CHUNK],
    );
    trimmed += rowCount ?? 0;
    if ((rowCount ?? 0) < TRIM_CHUNK) return trimmed;
  }
}
