import { currentTime } from "@scrip/clock";
import { startBatchJob } from "@scrip/rpc";

import { timePart } from "../store/expired-failures.ts";
import { findRemoval, removeExplanations } from "../store/explanations.ts";
import type { ExpiryOptions } from "./delete-expired-failures.ts";

/** Small, so that locks are held briefly. */
const CHUNK = 1_000;
const EVERY_MS = 10 * 60_000;
const DAY_MS = 24 * 3_600_000;

/**
 * Removes explanations that are older than `keepMs`, by the day, until disposed. Continues where another process or an
 * interrupted run ended; two that work on one chunk do it twice, which changes nothing.
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
  return startBatchJob({
    everyMs: EVERY_MS,
    async batch() {
      const day = Math.floor((currentTime() - keepMs) / DAY_MS) * DAY_MS;
      const removal = await findRemoval(db, timePart(day));
      if (removal === undefined) return false;
      removed?.inc(await removeExplanations(db, removal, CHUNK));
      return true;
    },
    onError,
  });
}
