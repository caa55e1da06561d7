import type { Deps } from "../deps.ts";
import { attemptDelivery } from "../reward/deliver-reward.ts";
import { takeDueRewardRedemptions } from "../store/reward-redemptions.ts";
import { startAttempts } from "./start-attempts.ts";

const EVERY_MS = 1_000;
/** Attempted concurrently, so that all attempts end before the rewards are due again. */
const BATCH = 8;

/**
 * Gives rewards whose first attempt failed, and disables vouchers of rewards that were rolled back, until disposed. Safe
 * to run in several processes concurrently.
 */
export const startRewardDelivery = (deps: Deps): ReturnType<typeof startAttempts> =>
  startAttempts({
    everyMs: EVERY_MS,
    batchSize: BATCH,
    attempt: () => deliverDueRewards(deps),
    onError: deps.onError,
  });

/** Attempts one batch; returns its size. */
export async function deliverDueRewards(deps: Deps): Promise<number> {
  const due = await takeDueRewardRedemptions(deps.db, BATCH);
  await Promise.all(due.map((reward) => attemptDelivery(deps, reward)));
  return due.length;
}
