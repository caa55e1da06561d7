import { ApiError } from "@scrip/errors";
import { enqueue } from "@scrip/events";
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
  findRewardRedemptions,
  lockRewardRedemption,
  recordFailedDelivery,
  type RewardRedemption,
  type RewardStatus,
  settleRewardRedemption,
  type StoredRewardRedemption,
} from "../store/reward-redemptions.ts";
import { findVouchersById } from "../store/vouchers.ts";
import { editVoucher, lockVoucher } from "../voucher/edit-voucher.ts";
import { editActive } from "../voucher/set-active.ts";
import { recordCompletion } from "./record-completion.ts";

const REASON = "Reward";
const SOURCE = "Automation";

/**
 * Attempts what a reward redemption owes, with calls that end at the deadline. Several attempts may overlap. Never rejects:
 * a failure is recorded, and the reward is due again later.
 */
export async function attemptDelivery(
  deps: Deps,
  reward: StoredRewardRedemption,
  deadline = Infinity,
): Promise<void> {
  try {
    await (reward.status === "ROLLED_BACK"
      ? takeBack(deps, reward)
      : deliver(deps, reward, deadline));
  } catch (error) {
    const reason = error instanceof ApiError ? `${error.key}: ${error.options.details}` : null;
    // Anything but a rejection is an outage or a bug.
    if (reason === null) deps.onError(asError(error));
    await recordFailedDelivery(deps.db, reward, reason ?? String(error)).catch((cause: unknown) =>
      deps.onError(asError(cause)),
    );
  }
}

const asError = (error: unknown): Error =>
  error instanceof Error ? error : new Error(String(error));

/**
 * Gives a CAMPAIGN reward once: vouchers are published under the id of the redemption, gift credits are written under the
 * lock of the reward, and points are added by an operation of the redemption, so that a repeated attempt finds them
 * (services/decisions/0057-rewards-given-after-the-commit.md).
 */
async function deliver(deps: Deps, reward: RewardRedemption, deadline: number): Promise<void> {
  const { projectId, campaignId, customerId, amount } = reward;
  if (campaignId === null) return;
  const own = await ownCall(deps, projectId, reward.origin);
  if (own === undefined) throw new ApiError("not_found", { details: "the project was deleted" });
  const call = { ...own, deadline: Math.min(own.deadline, deadline) };
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
  const { redemptionId: sourceId, quantity } = reward;
  const [voucherId = null] = await publishUnderSource(deps, {
    ...to,
    sourceId,
    count: Number(quantity),
  });
  const status = await complete(deps, reward, { voucherId, call: to.call });
  // Rolled back while it was published. Another attempt may have completed it, with the same vouchers.
  if (status === "ROLLED_BACK") await takeBack(deps, reward);
}

/** The customer's voucher of the campaign gets the points or credits; one is published when they have none. */
async function credit(
  deps: Deps,
  reward: CreditReward,
  { customer, campaign, call }: Recipient,
): Promise<void> {
  const voucherId = await publishOnce(deps, { customer, campaign, call });
  const to = { reward, voucherId, call };
  await (voucherTypeOf(campaign) === "GIFT_VOUCHER"
    ? creditGiftVoucher(deps, to)
    : creditLoyaltyCard(deps, to));
}

type CreditReward = RewardRedemption & { readonly amount: bigint };
type Credit = { readonly reward: CreditReward; readonly voucherId: string; readonly call: Call };

const creditGiftVoucher = (deps: Deps, { reward, voucherId, call }: Credit): Promise<void> =>
  deps.db.transaction(async (tx) => {
    // Vouchers before rewards, as rollbacks lock them.
    const { definition, usage } = await lockVoucher(tx, reward.projectId, voucherId);
    if ((await lockRewardRedemption(tx, reward))?.status !== "PENDING") return;
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
    await enqueue(tx, [event], call);
    const { ledgerVersion } = adjusted;
    await recordCompletion(tx, { deps, call }, reward, { voucherId, ledgerVersion, at: call.now });
  });

/**
 * The loyalty service adds points once for an operation. Nothing is locked during the call: rollbacks of a batch do not
 * wait for it, and points that are added stay after a rollback.
 */
async function creditLoyaltyCard(deps: Deps, { reward, voucherId, call }: Credit): Promise<void> {
  const { projectId, redemptionId } = reward;
  const [card] = await findVouchersById(deps.db, [{ projectId, id: voucherId }]);
  if (card === undefined) throw new Error(`card ${voucherId} does not exist`);
  const [current] = (await findRewardRedemptions(deps.db, [reward])).values();
  if (current?.status !== "PENDING") return;
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
  if (outcome.case !== "moved") {
    throw rejectionError(outcome.value, { code: card.definition.code, removes: false });
  }
  await complete(deps, reward, { voucherId, call });
}

/** Completes a reward that was given, unless it was completed or rolled back meanwhile; returns its status before. */
const complete = (
  deps: Deps,
  reward: RewardRedemption,
  { voucherId, call }: { readonly voucherId: string | null; readonly call: Call },
): Promise<RewardStatus | undefined> =>
  deps.db.transaction(async (tx) => {
    const status = (await lockRewardRedemption(tx, reward))?.status;
    if (status === "PENDING" || status === "FAILED") {
      const given = { voucherId, ledgerVersion: null, at: call.now };
      await recordCompletion(tx, { deps, call }, reward, given);
    }
    return status;
  });

/** Disables the vouchers of a reward that was rolled back, unless they were redeemed. */
async function takeBack(
  deps: Deps,
  reward: Pick<RewardRedemption, "projectId" | "redemptionId" | "origin">,
): Promise<void> {
  const { projectId, redemptionId, origin } = reward;
  const call = await ownCall(deps, projectId, origin);
  if (call !== undefined) {
    for (const id of await findPublishedUnder(deps.db, projectId, redemptionId)) {
      await disableUnused(deps, id, call);
    }
  }
  await settleRewardRedemption(deps.db, reward);
}

async function disableUnused(deps: Deps, id: string, call: Call): Promise<void> {
  try {
    await editVoucher(deps, id, {
      call,
      edit: (voucher) =>
        voucher.usage.redeemedQuantity > 0n ? undefined : editActive(voucher, false, call.now),
    });
  } catch (error) {
    const isDeleted = error instanceof ApiError && error.key === "not_found";
    if (!isDeleted) throw error;
  }
}
