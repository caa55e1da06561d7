import { setTimeout as sleep } from "node:timers/promises";

import type { EventBus } from "@scrip/events";
import { LRUCache } from "lru-cache";

import { isFarBehind, type ReadingLag } from "../domain/reading-lag.ts";
import { WEBHOOK_GROUP } from "./subscription.ts";

/** How long a job pauses at a time. */
const PAUSE_MS = 1_000;
/** A group that reads nothing, for example during an outage, delays each slice of a job by this. */
const MAX_PAUSES_MS = 5_000;
/** A broker that is away does not tell how far a group is. */
const MEASURE_MS = 1_000;
/** Beyond this number, the pauses of those that were asked for the longest time ago begin anew. */
const MAX_JOBS = 10_000;

/** Milliseconds by which a job that causes many events should delay its next slice; 0: it may go on. */
export type BulkPause = (jobId: string) => Promise<number>;

/**
 * Delays bulk work while the events that webhooks receive are read late, so that those of requests never stand behind all of its own.
 * It goes on when they are read, when nobody knows how far they are read, or after some seconds.
 */
export function createBulkPause(bus: Pick<EventBus, "delays" | "backlogs">): BulkPause {
  const endOf = new LRUCache<string, number>({ max: MAX_JOBS });
  return async (jobId) => {
    const lag = await Promise.race([lagOf(bus), sleep(MEASURE_MS, {}, { ref: false })]);
    const now = performance.now();
    const end = endOf.get(jobId) ?? now + MAX_PAUSES_MS;
    if (!isFarBehind(lag) || now >= end) {
      endOf.delete(jobId);
      return 0;
    }
    endOf.set(jobId, end);
    return Math.min(PAUSE_MS, Math.ceil(end - now));
  };
}

async function lagOf(bus: Pick<EventBus, "delays" | "backlogs">): Promise<ReadingLag> {
  try {
    return {
      seconds: (await bus.delays?.())?.get(WEBHOOK_GROUP),
      events: (await bus.backlogs?.())?.get(WEBHOOK_GROUP),
    };
  } catch {
    // The job itself reports an outage that concerns it.
    return {};
  }
}
