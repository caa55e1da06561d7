import { type Database, type Queryable, textArray } from "@scrip/postgres";

import type { DeliveredEvent, EventHandler } from "./bus.ts";

export type InboxWork<Told> = {
  /** Whose inbox remembers what was done. */
  readonly consumer: string;
  /** What an event tells the consumer; of one that tells nothing, nothing is remembered. */
  readonly read: (event: DeliveredEvent) => Told | undefined;
  /** Applies what is new in the transaction that remembers it. */
  readonly work: (tx: Queryable, told: readonly Told[]) => Promise<void>;
};

/**
 * A handler that runs `work` for an event the first time that `consumer` sees its id, and never
 * again, also within one batch. The record of having seen it commits with the work, so a crash in
 * between repeats both.
 */
export const inboxHandler =
  <Told>(db: Database, { consumer, read, work }: InboxWork<Told>): EventHandler =>
  async (batch) => {
    const told = new Map<DeliveredEvent, Told>();
    for (const event of batch) {
      const one = read(event);
      if (one !== undefined) told.set(event, one);
    }
    if (told.size === 0) return;
    await db.transaction(async (tx) => {
      const fresh = await takeFresh(tx, consumer, [...told.keys()]);
      if (fresh.length === 0) return;
      await work(
        tx,
        fresh.map((event) => told.get(event) as Told),
      );
    });
  };

/**
 * Enters the events into the inbox and answers those that were not in it, in their order and each
 * once. A concurrent transaction that holds one of them is waited for: it commits, and the event is
 * no longer new, or it fails, and the event is ours. All batches are in the order of the log, so two
 * of them never wait for each other.
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
  // Deleting on the way leaves a repeat within the batch out.
  return batch.filter((event) => fresh.delete(`${event.projectId}:${event.id}`));
}

/** How long an id is remembered: far longer than the log keeps its event. */
export const INBOX_RETENTION_MS = 30 * 24 * 60 * 60 * 1_000;

const TRIM_CHUNK = 5_000;

/** Forgets what was seen more than `keepMs` ago, in short statements; answers how many rows went. */
export async function trimInbox(db: Database, keepMs = INBOX_RETENTION_MS): Promise<number> {
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
