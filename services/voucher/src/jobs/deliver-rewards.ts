import { startWokenJob } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { attemptDelivery } from "../reward/deliver-reward.ts";
import { takeDueRewardRedemptions } from "../store/reward-redemptions.ts";

const EVERY_MS = 1_000;
const IDLE_MS = 3_000;
/** Attempted concurrently, so that all attempts end before the rewards are due again. */
const BATCH = 8;

/**
 * Gives rewards whose first attempt failed, and disables vouchers of rewards that were rolled back, until disposed. Safe
 * to run in several processes concurrently.
 */
export function startRewardDelivery(deps: Deps): ReturnType<typeof startWokenJob> {
  const job = startWokenJob({
    everyMs: EVERY_MS,
    idleMs: IDLE_MS,
    async batch() {
      const attempts = await deliverDueRewards(deps);
      // The next attempt may be due soon.
      if (attempts > 0) job.wake();
      return attempts === BATCH;
    },
    onError: deps.onError,
  });
  return job;
}

/** Attempts one batch; returns its size. */
export async function deliverDueRewards(deps: Deps): Promise<number> {
  const due = await takeDueRewardRedemptions(deps.db, BATCH);
  await Promise.all(due.map((reward) => attemptDelivery(deps, reward)));
  return due.length;
}
