import type { CommitOutcome } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";

import type { Deps } from "../deps.ts";
import { findRewardRedemptions } from "../store/reward-redemptions.ts";
import { attemptDelivery } from "./deliver-reward.ts";
import { campaignRewardsOf, type ProjectOutcome, addRewardVouchers } from "./describe-rewards.ts";

/**
 * Gives the CAMPAIGN rewards of committed redemptions immediately, so that the response shows their vouchers. What fails is
 * tried again by a job. Calls nothing for redemptions of anything else.
 */
export async function deliverCommitted(
  deps: Deps,
  outcomes: readonly ProjectOutcome[],
): Promise<readonly CommitOutcome[]> {
  const owed = await findRewardRedemptions(
    deps.db,
    outcomes
      .filter(({ outcome }) => !outcome.replayed)
      .flatMap(campaignRewardsOf)
      .map(({ projectId, redemption }) => ({ projectId, redemptionId: redemption.id })),
  );
  for (const reward of owed.values()) {
    if (reward.status === "PENDING") await attemptDelivery(deps, reward);
  }
  return addRewardVouchers(deps.db, outcomes);
}
