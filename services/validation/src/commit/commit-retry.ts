import { setTimeout as sleep } from "node:timers/promises";

import { currentTime } from "@scrip/clock";
import type { CommitOutcome, RollbackOutcome } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";

/** About 300 ms in total: a lock that lasts longer is not just a concurrent redemption. */
const PAUSES_WHILE_LOCKED_MS = [20, 40, 80, 160];

/**
 * Commits, and retries after a pause while the voucher is locked by another operation. A locked
 * commit had no effect, so the decision is still valid; the commit itself detects whether the
 * voucher changed.
 */
export async function commitWithRetry<
  Outcome extends Pick<CommitOutcome, "outcome"> | Pick<RollbackOutcome, "outcome">,
>(commit: () => Promise<Outcome>): Promise<Outcome> {
  for (const pause of PAUSES_WHILE_LOCKED_MS) {
    const outcome = await commit();
    if (!isLocked(outcome)) return outcome;
    await sleep(spread(pause));
  }
  return commit();
}

const isLocked = ({ outcome }: Pick<CommitOutcome, "outcome"> | Pick<RollbackOutcome, "outcome">) =>
  outcome.case === "rejected" && outcome.value.key === "service_unavailable";

const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 80;
/** Time reserved for the work after the pause. */
const RESERVE_MS = 500;

/**
 * Pauses, longer after each attempt, before deciding again on a changed voucher. Returns false when
 * the deadline leaves no time for another attempt.
 */
export async function pauseBeforeRetry(attempt: number, deadline: number): Promise<boolean> {
  const pause = spread(Math.min(FIRST_PAUSE_MS * 2 ** attempt, LONGEST_PAUSE_MS));
  if (!hasTimeLeft(deadline - pause)) return false;
  await sleep(pause);
  return true;
}

/** Whether the deadline leaves time for another decision and its commit. */
export const hasTimeLeft = (deadline: number): boolean => currentTime() + RESERVE_MS <= deadline;

/** Random, so that conflicting requests do not meet again. */
const spread = (milliseconds: number): number => milliseconds * (0.5 + Math.random());
