import { setTimeout as sleep } from "node:timers/promises";

import type { EventBus } from "@scrip/events";

import { isFarBehind, type ReadingLag } from "../domain/reading-lag.ts";
import { WEBHOOK_GROUP } from "./subscription.ts";

/** How long a job pauses at a time. */
const PAUSE_MS = 1_000;
/** A group that reads nothing, for example during an outage, delays each slice of a job by this. */
const MAX_PAUSED_MS = 5_000;
/** A job does not wait longer for a broker that does not respond. */
const MEASURE_MS = 1_000;

/**
 * Milliseconds by which a job that causes many events should delay its next slice, which has paused for `pausedMs`;
 * 0: not at all.
 */
export type BulkPause = (pausedMs: number) => Promise<number>;

/**
 * Delays bulk work while the events that webhooks receive are read late, so that those of requests never stand behind
 * all of its own. It continues when they are read, when the broker does not report the lag, or after some seconds.
 */
export const createBulkPause =
  (bus: Pick<EventBus, "delays" | "backlogs">): BulkPause =>
  async (pausedMs) => {
    if (pausedMs >= MAX_PAUSED_MS) return 0;
    const lag = await Promise.race([lagOf(bus), sleep(MEASURE_MS, {}, { ref: false })]);
    return isFarBehind(lag) ? Math.min(PAUSE_MS, MAX_PAUSED_MS - pausedMs) : 0;
  };

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
