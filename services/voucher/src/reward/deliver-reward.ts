import { ApiError } from "@scrip/errors";
import { enqueue } from "@scrip/events";
import type { Queryable } from "@scrip/postgres";
import type { StoredCustomer } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { decideAdjustment } from "../domain/adjustment.ts";
import { voucherTypeOf } from "../domain/publication-decision.ts";
import { giftBalanceAdjusted } from "../events/gift-balance-adjusted.ts";
import { findCustomers } from "../loading/customers.ts";
import { ownCall } from "../own-call.ts";
import { rejectionError } from "../points/adjust-points.ts";
import { cardReferenceOf } from "../points/card-reference.ts";
import { publishOnce, publishUnderSource } from "../publication/publish.ts";
import { findCampaign, isCampaignActive, type StoredCampaign } from "../store/campaigns.ts";
import { writeAdjustment } from "../store/gift-ledger.ts";
import { findPublishedUnder } from "../store/publications.ts";
import {
  completeRewardRedemption,
  lockRewardRedemption,
  recordFailedDelivery,
  type RewardRedemption,
  settleRewardRedemption,
  type StoredRewardRedemption,
} from "../store/reward-redemptions.ts";
import { findVouchersById } from "../store/vouchers.ts";
import { lockVoucher } from "../voucher/edit-voucher.ts";
import { setActive } from "../voucher/set-active.ts";

const REASON = "Reward";
const SOURCE = "Automation";

/** Attempts what a reward redemption owes. A failure is recorded and tried again later. */
export async function attemptDelivery(deps: Deps, reward: StoredRewardRedemption): Promise<void> {
  try {
    await (reward.status === "ROLLED_BACK" ? takeBack(deps, reward) : deliver(deps, reward));
  } catch (error) {
    const reason = error instanceof ApiError ? `${error.key}: ${error.options.details}` : null;
    // Anything but a rejection is an outage or a bug.
    if (reason === null) deps.onError(error instanceof Error ? error : new Error(String(error)));
    await recordFailedDelivery(deps.db, reward, reason ?? String(error));
  }
}

/**
 * Gives a CAMPAIGN reward once: vouchers are published under the id of the redemption, and a credit is written under the
 * lock of the reward, so that a repeated attempt finds them (services/decisions/0057-rewards-given-after-the-commit.md).
 */
async function deliver(deps: Deps, reward: RewardRedemption): Promise<void> {
  const { projectId, campaignId, customerId, amount } = reward;
  if (campaignId === null) return;
  const call = await ownCall(deps, projectId);
  if (call === undefined) throw new ApiError("not_found", { details: "the project was deleted" });
  const customer = (await findCustomers(deps, [customerId], call)).get(customerId);
  if (customer === undefined) {
    throw new ApiError("not_found", { details: `the customer ${customerId} was deleted` });
  }
  const campaign = await liveCampaign(deps, projectId, campaignId);
  const to = { customer, campaign, call };
  await (amount === null ? publish(deps, reward, to) : credit(deps, { ...reward, amount }, to));
  deps.onEvents();
}

type Recipient = {
  readonly customer: StoredCustomer;
  readonly campaign: StoredCampaign;
  readonly call: Call;
};

async function liveCampaign(deps: Deps, projectId: string, id: string): Promise<StoredCampaign> {
  const campaign = await findCampaign(deps.db, projectId, id);
  if (campaign === undefined) {
    throw new ApiError("invalid_campaign", { details: `Campaign ${id} was deleted` });
  }
  if (!(await isCampaignActive(deps.db, projectId, id))) {
    throw new ApiError("invalid_campaign", { details: `Campaign ${id} is disabled` });
  }
  return campaign;
}

async function publish(deps: Deps, reward: RewardRedemption, to: Recipient): Promise<void> {
  const { projectId, redemptionId: sourceId, quantity } = reward;
  const [voucherId = null] = await publishUnderSource(deps, {
    ...to,
    sourceId,
    count: Number(quantity),
  });
  const isOwed = await deps.db.transaction(async (tx) => {
    const locked = await lockRewardRedemption(tx, reward);
    if (locked?.status !== "PENDING") return false;
    await completeRewardRedemption(tx, reward, { voucherId, ledgerVersion: null, at: to.call.now });
    return true;
  });
  // Rolled back while it was published.
  if (!isOwed) await takeBack(deps, { projectId, redemptionId: sourceId });
}

/** The customer's voucher of the campaign gets the points or credits; one is published when they have none. */
async function credit(
  deps: Deps,
  reward: RewardRedemption & { readonly amount: bigint },
  { customer, campaign, call }: Recipient,
): Promise<void> {
  const voucherId = await publishOnce(deps, { customer, campaign, call });
  const creditVoucher =
    voucherTypeOf(campaign) === "GIFT_VOUCHER" ? creditGiftVoucher : creditLoyaltyCard;
  await deps.db.transaction(async (tx) => {
    const ledgerVersion = await creditVoucher(tx, deps, { reward, voucherId, call });
    if (ledgerVersion === "settled") return;
    await completeRewardRedemption(tx, reward, { voucherId, ledgerVersion, at: call.now });
  });
}

type Credit = {
  readonly reward: RewardRedemption & { readonly amount: bigint };
  readonly voucherId: string;
  readonly call: Call;
};

/** The version of the ledger entry, or `settled` when nothing is owed any more. */
async function creditGiftVoucher(
  tx: Queryable,
  deps: Deps,
  { reward, voucherId, call }: Credit,
): Promise<bigint | "settled"> {
  // Vouchers before rewards, as rollbacks lock them.
  const { definition, usage } = await lockVoucher(tx, reward.projectId, voucherId);
  if ((await lockRewardRedemption(tx, reward))?.status !== "PENDING") return "settled";
  const change = reward.amount * reward.quantity;
  const adjusted = decideAdjustment(usage, { change, lockedCredits: 0n });
  const adjustment = {
    usage: adjusted,
    change,
    source: SOURCE,
    sourceId: reward.redemptionId,
    reason: REASON,
    at: call.now,
  };
  await writeAdjustment(tx, adjustment);
  const event = giftBalanceAdjusted(deps.newId("event"), adjustment, definition.campaignId);
  await enqueue(tx, [event]);
  return adjusted.ledgerVersion;
}

/** The loyalty service adds points once for an operation; the lock prevents a concurrent rollback. */
async function creditLoyaltyCard(
  tx: Queryable,
  deps: Deps,
  { reward, voucherId, call }: Credit,
): Promise<null | "settled"> {
  const { projectId, redemptionId } = reward;
  const [card] = await findVouchersById(tx, [{ projectId, id: voucherId }]);
  if (card === undefined) throw new Error(`card ${voucherId} does not exist`);
  if ((await lockRewardRedemption(tx, reward))?.status !== "PENDING") return "settled";
  const { outcome } = await deps.cards.adjustPoints(
    {
      $typeName: "scrip.loyalty.v1.AdjustPointsRequest",
      card: cardReferenceOf(card),
      operationId: `reward:${redemptionId}`,
      points: reward.amount * reward.quantity,
      expirationType: "PROGRAM_RULES",
      sourceId: redemptionId,
      reason: REASON,
    },
    call,
  );
  if (outcome.case === "moved") return null;
  throw rejectionError(outcome.value, { code: card.definition.code, removes: false });
}

/** Disables the vouchers of a reward that was rolled back, unless they were redeemed. */
async function takeBack(
  deps: Deps,
  reward: Pick<RewardRedemption, "projectId" | "redemptionId">,
): Promise<void> {
  const { projectId, redemptionId } = reward;
  const call = await ownCall(deps, projectId);
  if (call !== undefined) {
    const ids = await findPublishedUnder(deps.db, projectId, redemptionId);
    const vouchers = await findVouchersById(
      deps.db,
      ids.map((id) => ({ projectId, id })),
    );
    for (const { definition, usage } of vouchers) {
      if (usage.redeemedQuantity > 0n) continue;
      await setActive(deps, { code: definition.id, active: false, call });
    }
  }
  await settleRewardRedemption(deps.db, reward);
}
