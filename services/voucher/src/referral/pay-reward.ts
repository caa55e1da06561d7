import { ApiError } from "@scrip/errors";
import { enqueue } from "@scrip/events";
import type { StoredCustomer } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { decideAdjustment } from "../domain/adjustment.ts";
import { voucherTypeOf } from "../domain/publication-decision.ts";
import { giftBalanceAdjusted } from "../events/gift-balance-adjusted.ts";
import { referralRewarded } from "../events/referrals.ts";
import { findCustomerInSegment } from "../loading/customers.ts";
import { ownCall } from "../own-call.ts";
import { publishOnce, publishUnderSource } from "../publication/publish.ts";
import { findCampaign, isCampaignActive } from "../store/campaigns.ts";
import { writeAdjustment } from "../store/gift-ledger.ts";
import {
  cancelReward,
  type DueReward,
  lockPendingReward,
  markPaid,
} from "../store/referral-rewards.ts";
import { lockVoucher } from "../voucher/edit-voucher.ts";

/**
 * Pays a reward once: the credit, the event and the mark are one transaction under the lock of the reward. The
 * customer gets a voucher of the campaign first when they have none, or the coupons that the reward consists of; a
 * repeated attempt finds them.
 */
export async function payReward(deps: Deps, reward: DueReward): Promise<void> {
  const call = await ownCall(deps, reward.projectId, reward.origin);
  if (call === undefined) return cancelReward(deps.db, reward, "the project was deleted");
  const found = await findCustomerInSegment(deps, reward, call);
  if (found === "unknown") return cancelReward(deps.db, reward, "the customer was deleted");
  if (found === "outside") return cancelReward(deps.db, reward, "not in the segment of the tier");
  const voucherId = await voucherOf(deps, reward, { customer: found, call });
  await credit(deps, reward, { voucherId, call });
}

/** The voucher that the reward credits, or its first coupon. */
async function voucherOf(
  deps: Deps,
  { id: sourceId, projectId, campaignId, voucherType, amount }: DueReward,
  { customer, call }: { readonly customer: StoredCustomer; readonly call: Call },
): Promise<string> {
  const campaign = await findCampaign(deps.db, projectId, campaignId);
  if (campaign === undefined || voucherTypeOf(campaign) !== voucherType) {
    throw new ApiError("invalid_campaign", { details: `Campaign ${campaignId} was deleted` });
  }
  if (!(await isCampaignActive(deps.db, projectId, campaignId))) {
    throw new ApiError("invalid_campaign", { details: `Campaign ${campaignId} is disabled` });
  }
  const recipient = { customer, campaign, call };
  if (voucherType !== "DISCOUNT_VOUCHER") return publishOnce(deps, recipient);
  const count = Number(amount);
  const [coupon] = await publishUnderSource(deps, { ...recipient, sourceId, count });
  if (coupon === undefined) throw new Error(`coupons of reward ${sourceId} were not published`);
  return coupon;
}

async function credit(
  deps: Deps,
  reward: DueReward,
  { voucherId, call }: { readonly voucherId: string; readonly call: Call },
): Promise<void> {
  const { projectId, amount } = reward;
  const at = call.now;
  await deps.db.transaction(async (tx) => {
    const { definition, usage } = await lockVoucher(tx, projectId, voucherId);
    if (!(await lockPendingReward(tx, reward))) return;
    if (definition.holderId !== reward.customerId) {
      throw new ApiError("invalid_customer", {
        details: `Voucher ${voucherId} changed its holder`,
      });
    }
    const events = [];
    let ledgerVersion: bigint | null = null;
    if (reward.voucherType === "GIFT_VOUCHER") {
      const adjusted = decideAdjustment(usage, { change: amount, lockedCredits: 0n });
      ({ ledgerVersion } = adjusted);
      const adjustment = {
        usage: adjusted,
        change: amount,
        source: "Automation",
        sourceId: null,
        reason: "Referral reward",
        at,
      };
      await writeAdjustment(tx, adjustment);
      events.push(giftBalanceAdjusted(deps.newId("event"), adjustment, definition.campaignId));
    }
    await markPaid(tx, reward, { voucherId, ledgerVersion, at });
    const payment = { voucherId, initialPoints: definition.loyaltyPoints, at };
    events.push(referralRewarded(deps.newId("event"), reward, payment));
    await enqueue(tx, events, call);
  });
  deps.onEvents();
}
