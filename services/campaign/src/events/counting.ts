import { type DeliveredEvent, type EventHandler, takeFresh } from "@scrip/events";
import type { Database, Queryable } from "@scrip/postgres";

export type Counting<Change> = {
  /** Whose inbox remembers what was counted. */
  readonly consumer: string;
  /** What an event changes; of nothing, it costs nothing. */
  readonly changeBy: (event: DeliveredEvent) => Change | undefined;
  readonly count: (tx: Queryable, changes: readonly Change[]) => Promise<void>;
};

/**
 * Counts what events change, each once, however often it comes, also within one batch: the inbox
 * remembers it in the transaction that counts.
 */
export const countingHandler =
  <Change>(db: Database, { consumer, changeBy, count }: Counting<Change>): EventHandler =>
  async (events) => {
    const changes = new Map<string, Change>();
    const relevant: DeliveredEvent[] = [];
    for (const event of events) {
      const change = changeBy(event);
      if (change === undefined) continue;
      changes.set(nameOf(event), change);
      relevant.push(event);
    }
    if (relevant.length === 0) return;
    await db.transaction(async (tx) => {
      const fresh = await takeFresh(tx, consumer, relevant);
      const left = fresh.flatMap((event) => changes.get(nameOf(event)) ?? []);
      if (left.length > 0) await count(tx, left);
    });
  };

const nameOf = ({ projectId, id }: DeliveredEvent): string => JSON.stringify([projectId, id]);
