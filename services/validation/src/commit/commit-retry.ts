import { setTimeout as sleep } from "node:timers/promises";

import type { CommitOutcome, RollbackOutcome } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";

/** About 300 ms in all: whoever holds a voucher for longer is not just another redemption. */
const PAUSES_WHILE_LOCKED_MS = [20, 40, 80, 160];

/**
 * Commits, again after a pause while something else holds the voucher. Nothing was done then, so the
 * decision still stands; whether the voucher was changed meanwhile is for the commit to notice.
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
/** For what comes after the pause: an answer that is late is none. */
const RESERVE_MS = 500;

/**
 * Pauses before a decision is made again because the voucher was changed under it, for longer from
 * one time to the next. Answers false when the deadline leaves no time for another.
 */
export async function pauseBeforeRetry(attempt: number, deadline: number): Promise<boolean> {
  const pause = spread(Math.min(FIRST_PAUSE_MS * 2 ** attempt, LONGEST_PAUSE_MS));
  if (!hasTimeLeft(deadline - pause)) return false;
  await sleep(pause);
  return true;
}

/** Whether the deadline leaves time for another decision and its commit. */
export const hasTimeLeft = (deadline: number): boolean => Date.now() + RESERVE_MS <= deadline;

/** So that those who met once do not meet again. */
const spread = (milliseconds: number): number => milliseconds * (0.5 + Math.random());
