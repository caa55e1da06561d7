import type { Queryable } from "@scrip/postgres";
import type {
  CommitOutcome,
  Redemption,
  RedemptionReward,
  RedemptionRewardVoucher,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";

import { rowKey } from "../domain/usage.ts";
import { voucherToProto } from "../mapping/voucher.ts";
import {
  decideShownRewards,
  findRewardRedemptions,
  type RewardRedemptionKey,
  type StoredRewardRedemption,
} from "../store/reward-redemptions.ts";
import type { StoredVoucher } from "../store/voucher-rows.ts";
import { findVouchersById } from "../store/vouchers.ts";

type ProjectRedemption = { readonly projectId: string; readonly redemption: Redemption };

/** Adds the status and the result of rewards to redemptions. Costs no statement without MATERIAL and CAMPAIGN rewards. */
export async function describeRewards(
  db: Queryable,
  projectId: string,
  redemptions: readonly Redemption[],
): Promise<Redemption[]> {
  const named = redemptions.map((redemption) => ({ projectId, redemption }));
  const given = named.filter(
    ({ redemption: { reward } }) => reward !== undefined && reward.type !== "COIN",
  );
  if (given.length === 0) return [...redemptions];
  const found = await loadRewards(db, given);
  return redemptions.map((redemption) => {
    const reward = found.get(rowKey(projectId, redemption.id));
    return reward === undefined
      ? redemption
      : withReward(redemption, { status: reward.stored.status, ...reward });
  });
}

export type ProjectOutcome = { readonly projectId: string; readonly outcome: CommitOutcome };

/**
 * Adds the vouchers of rewards that were given before the first response to the responses of redemptions. Replays contain
 * the same vouchers, also while a reward is being given.
 */
export async function addRewardVouchers(
  db: Queryable,
  outcomes: readonly ProjectOutcome[],
): Promise<readonly CommitOutcome[]> {
  const named = outcomes.flatMap(campaignRewardsOf);
  if (named.length === 0) return outcomes.map(({ outcome }) => outcome);
  await decideShownRewards(db, keysOf(named));
  const found = await loadRewards(db, named);
  return outcomes.map(({ projectId, outcome }) => {
    const { outcome: result } = outcome;
    if (result.case !== "committed") return outcome;
    const redemptions = result.value.redemptions.map((redemption) => {
      const reward = found.get(rowKey(projectId, redemption.id));
      return reward?.stored.shownAsGiven === true
        ? withReward(redemption, { status: "COMPLETED", ...reward })
        : redemption;
    });
    return { ...outcome, outcome: { ...result, value: { ...result.value, redemptions } } };
  });
}

/** The redemptions of an outcome that give vouchers, points or credits of a campaign. */
export const campaignRewardsOf = ({ projectId, outcome }: ProjectOutcome): ProjectRedemption[] =>
  outcome.outcome.case === "committed"
    ? outcome.outcome.value.redemptions
        .filter(({ reward }) => reward?.type === "CAMPAIGN")
        .map((redemption) => ({ projectId, redemption }))
    : [];

const keysOf = (named: readonly ProjectRedemption[]): readonly RewardRedemptionKey[] =>
  named.map(({ projectId, redemption }) => ({ projectId, redemptionId: redemption.id }));

type Found = {
  readonly stored: StoredRewardRedemption;
  readonly voucher: StoredVoucher | undefined;
};

/** By `rowKey` of project and redemption. */
async function loadRewards(
  db: Queryable,
  named: readonly ProjectRedemption[],
): Promise<ReadonlyMap<string, Found>> {
  const stored = await findRewardRedemptions(db, keysOf(named));
  const vouchers = await findVouchersById(
    db,
    [...stored.values()].flatMap(({ projectId, voucherId: id }) =>
      id === null ? [] : [{ projectId, id }],
    ),
  );
  const byId = new Map(
    vouchers.map((one) => [rowKey(one.definition.projectId, one.definition.id), one]),
  );
  return new Map(
    [...stored].map(([key, one]) => [
      key,
      { stored: one, voucher: byId.get(rowKey(one.projectId, one.voucherId ?? "")) },
    ]),
  );
}

function withReward(
  redemption: Redemption,
  { status, voucher }: { readonly status: string; readonly voucher: StoredVoucher | undefined },
): Redemption {
  const { reward } = redemption;
  if (reward === undefined) return redemption;
  const described: RedemptionReward = {
    ...reward,
    status,
    ...(voucher !== undefined && { voucher: rewardVoucherToProto(voucher) }),
  };
  return { ...redemption, reward: described };
}

function rewardVoucherToProto(voucher: StoredVoucher): RedemptionRewardVoucher {
  const { id, code, type, campaign, campaignId } = voucherToProto(voucher);
  return {
    $typeName: "scrip.voucher.v1.RedemptionRewardVoucher",
    id,
    code,
    type,
    ...(campaign !== undefined && { campaign }),
    ...(campaignId !== undefined && { campaignId }),
  };
}
