import { ApiError } from "@scrip/errors";
import { enqueue } from "@scrip/events";
import { newRequestId } from "@scrip/ids";
import type { StoredCustomer } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import { type Call, type FindProject, REQUEST_DEADLINE_MS } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { decideAdjustment } from "../domain/adjustment.ts";
import { voucherTypeOf } from "../domain/publication-decision.ts";
import { giftBalanceAdjusted } from "../events/gift-balance-adjusted.ts";
import { referralRewarded } from "../events/referrals.ts";
import { findCustomerInSegment } from "../loading/customers.ts";
import { publishOnce } from "../publication/publish.ts";
import { findCampaign, isCampaignActive } from "../store/campaigns.ts";
import { writeAdjustment } from "../store/gift-ledger.ts";
import {
  cancelReward,
  type DueReward,
  lockPendingReward,
  markPaid,
} from "../store/referral-rewards.ts";
import { lockVoucher } from "../voucher/edit-voucher.ts";

export type PayDeps = Deps & { readonly findProject: FindProject };

/**
 * Pays a reward once: the credit, the event and the mark are one transaction under the lock of the reward. The
 * customer gets a voucher of the campaign first when they have none; a repeated attempt finds it.
 */
export async function payReward(deps: PayDeps, reward: DueReward): Promise<void> {
  const call = await callIn(deps, reward.projectId);
  if (call === undefined) return cancelReward(deps.db, reward, "the project was deleted");
  const found = await findCustomerInSegment(deps, reward, call);
  if (found === "unknown") return cancelReward(deps.db, reward, "the customer was deleted");
  if (found === "outside") return cancelReward(deps.db, reward, "not in the segment of the tier");
  const voucherId = await voucherOf(deps, reward, { customer: found, call });
  await credit(deps, reward, { voucherId, call });
}

/** A call of the service itself in a project; undefined when the project was deleted. */
async function callIn({ findProject }: PayDeps, projectId: string): Promise<Call | undefined> {
  const deadline = Date.now() + REQUEST_DEADLINE_MS;
  const state = await findProject({ projectId, version: undefined, deadline });
  if (state === undefined || state.deleted) return undefined;
  return {
    project: state.project,
    requestId: newRequestId(),
    deadline,
    now: state.sandboxNow ?? Date.now(),
    caller: { side: "service", id: "voucher" },
  };
}

/** The customer's voucher of the campaign of the reward; publishes one when they have none. */
async function voucherOf(
  deps: PayDeps,
  { projectId, campaignId, voucherType }: DueReward,
  { customer, call }: { readonly customer: StoredCustomer; readonly call: Call },
): Promise<string> {
  const campaign = await findCampaign(deps.db, projectId, campaignId);
  if (campaign === undefined || voucherTypeOf(campaign) !== voucherType) {
    throw new ApiError("invalid_campaign", { details: `Campaign ${campaignId} was deleted` });
  }
  if (!(await isCampaignActive(deps.db, projectId, campaignId))) {
    throw new ApiError("invalid_campaign", { details: `Campaign ${campaignId} is disabled` });
  }
  return publishOnce(deps, { customer, campaign, call });
}

async function credit(
  deps: PayDeps,
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
    await enqueue(tx, events);
  });
  deps.onEvents();
}
