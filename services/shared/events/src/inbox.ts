import {
  boundaryInstants,
  type Database,
  type PartitionedTable,
  type Queryable,
  textArray,
} from "@scrip/postgres";

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
  async (batch, { onDuplicates }) => {
    const items = new Map<DeliveredEvent, Item>();
    for (const event of batch) {
      const one = read(event);
      if (one !== undefined) items.set(event, one);
    }
    if (items.size === 0) return;
    const fresh = await db.transaction(async (tx) => {
      const events = await takeFresh(tx, consumer, [...items.keys()]);
      if (events.length > 0) {
        await work(
          tx,
          events.map((event) => items.get(event) as Item),
        );
      }
      return events;
    });
    if (fresh.length < items.size) onDuplicates?.(items.size - fresh.length);
  };

const DAY_MS = 24 * 3_600_000;
/** A lookup reads the index of every partition, so longer periods make it cheaper. */
const EVERY_MS = 5 * DAY_MS;

/**
 * The partitions of a service's inbox. An id must be retained longer than the log retains its event for a group that
 * has not handled it.
 */
export const inboxTable = (keepMs: number): PartitionedTable => ({
  table: "inbox",
  column: "seen_at",
  everyMs: EVERY_MS,
  keepMs,
});

/**
 * Inserts the events into the inbox and returns the new ones, in their order and each once. It
 * waits for a concurrent transaction with one of them: when that commits, the event is no longer
 * new; when it fails, it is. All transactions insert in the order of the ids, so two of them never
 * deadlock, and ids that follow each other fill the pages of the index.
 */
async function takeFresh(
  tx: Queryable,
  consumer: string,
  batch: readonly DeliveredEvent[],
): Promise<readonly DeliveredEvent[]> {
  const { rows } = await tx.query<{ project_id: string; event_id: string }>({
    name: "inbox_take",
    planning: "indexLookups",
    text: TAKE,
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

/**
 * Committed ids are found in all partitions, by a subquery so that each is a lookup; near a boundary, concurrent
 * transactions meet in a partition that both write (`boundaryInstants`).
 */
const TAKE = `
  with instants as materialized (
    select at from ${boundaryInstants({ table: "inbox", everyMs: EVERY_MS })}
  ), taken as (
    insert into inbox (project_id, consumer, event_id, seen_at)
    select project_id, $1, event_id, at
      from unnest($2::text[], $3::text[]) as seen (project_id, event_id)
     cross join instants
     where (select true
              from inbox as known
             where known.project_id = seen.project_id and known.consumer = $1
               and known.event_id = seen.event_id
             limit 1) is null
     order by project_id, event_id, at
        on conflict do nothing
    returning project_id, event_id
  )
  select project_id, event_id
    from taken
   group by project_id, event_id
  having count(*) = (select count(*) from instants)`;
