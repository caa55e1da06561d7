import { setTimeout as sleep } from "node:timers/promises";

import { currentTime } from "@scrip/clock";
import type { CommitOutcome } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";

import type { Deps } from "../deps.ts";
import { findRewardRedemptions } from "../store/reward-redemptions.ts";
import { attemptDelivery } from "./deliver-reward.ts";
import { addRewardVouchers, campaignRewardsOf, type ProjectOutcome } from "./describe-rewards.ts";

/** How long the responses to a batch wait for its rewards. */
const BUDGET_MS = 2_000;
/** Number of rewards of a batch that are attempted concurrently. */
const CONCURRENT = 8;

/**
 * Attempts to give the CAMPAIGN rewards of committed redemptions, so that the response shows their vouchers. Never rejects,
 * because the redemptions are committed: a job gives the rewards that are not given in time.
 */
export async function deliverCommitted(
  deps: Deps,
  outcomes: readonly ProjectOutcome[],
): Promise<readonly CommitOutcome[]> {
  try {
    await attemptWithinBudget(deps, outcomes);
    return await addRewardVouchers(deps.db, outcomes);
  } catch (cause) {
    deps.onError(new Error("the rewards of a batch could not be read", { cause }));
    return outcomes.map(({ outcome }) => outcome);
  }
}

async function attemptWithinBudget(deps: Deps, outcomes: readonly ProjectOutcome[]): Promise<void> {
  const owed = await findRewardRedemptions(
    deps.db,
    outcomes
      .filter(({ outcome }) => !outcome.replayed)
      .flatMap(campaignRewardsOf)
      .map(({ projectId, redemption }) => ({ projectId, redemptionId: redemption.id })),
  );
  if (owed.size === 0) return;
  const deadline = currentTime() + BUDGET_MS;
  const queue = owed.values();
  const attempts = Array.from({ length: CONCURRENT }, async () => {
    for (const reward of queue) {
      if (currentTime() >= deadline) return;
      if (reward.status === "PENDING") await attemptDelivery(deps, reward, deadline);
    }
  });
  const timer = new AbortController();
  const timeout = sleep(BUDGET_MS, undefined, { signal: timer.signal });
  await Promise.race([Promise.all(attempts), timeout]);
  timer.abort();
}
