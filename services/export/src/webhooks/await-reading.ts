import { setTimeout as sleep } from "node:timers/promises";

import type { EventBus } from "@scrip/events";

import { isFarBehind } from "../domain/reading-lag.ts";
import { GROUP } from "./subscription.ts";

const POLL_MS = 200;
/** A group that reads nothing, for example during an outage, delays each slice of bulk work by this. */
const MAX_WAIT_MS = 5_000;

/**
 * Resolves when the events that webhooks receive are read almost up to the end, or after some seconds. Bulk work that causes such
 * events waits for it before each slice, so that those of requests never stand behind all of its own.
 */
export const createReadingWait =
  (bus: EventBus) =>
  async (signal: AbortSignal): Promise<void> => {
    const end = performance.now() + MAX_WAIT_MS;
    while (!signal.aborted && performance.now() < end && isFarBehind(await lagOf(bus))) {
      await sleep(POLL_MS);
    }
  };

const lagOf = async (bus: EventBus) => ({
  seconds: (await bus.delays?.())?.get(GROUP),
  events: (await bus.backlogs?.())?.get(GROUP),
});
