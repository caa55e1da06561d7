import { currentTime } from "@scrip/clock";
import { timePart } from "@scrip/ids";
import { pause, startPeriodicJob } from "@scrip/rpc";

import { findRemovals, removeExplanations } from "../store/explanations.ts";
import type { ExpiryOptions } from "./delete-expired-failures.ts";

/** Small, so that locks are held briefly. */
const CHUNK = 1_000;
const EVERY_MS = 10 * 60_000;
const DAY_MS = 24 * 3_600_000;

/** After each full chunk, so that a long removal leaves time to requests. */
const PAUSE_MS = 100;

/**
 * Removes explanations that are older than `keepMs`, by the day, until disposed. Continues where an interrupted run
 * ended. Processes work on different projects.
 */
export function startExplanationRemoval({
  db,
  keepMs,
  metrics,
  onError,
}: ExpiryOptions): AsyncDisposable {
  const removed = metrics?.counter({
    name: "removed_explanations_total",
    help: "Explanations of redemptions that were removed because of their age",
  });
  return startPeriodicJob({
    everyMs: EVERY_MS,
    async work(signal) {
      const day = Math.floor((currentTime() - keepMs) / DAY_MS) * DAY_MS;
      const before = timePart(day);
      for (const projectId of await findRemovals(db, before)) {
        for (let mayBeMore = true; mayBeMore && !signal.aborted;) {
          const chunk = await removeExplanations(db, { projectId, before, limit: CHUNK });
          removed?.inc(chunk.removed);
          mayBeMore = chunk.mayBeMore;
          if (mayBeMore) await pause(PAUSE_MS, signal);
        }
      }
    },
    onError,
  });
}
