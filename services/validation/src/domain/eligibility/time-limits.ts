import { type TimeContext, type ValidityStatus, evaluateValidity } from "@scrip/rules";

import type { TierSnapshot, VoucherSnapshot } from "../input/voucher.ts";
import { type Rejection, rejectionForCode } from "../rejections/rejection.ts";

/** Refuses a voucher that its own time limits or its campaign's close at this moment. */
export function checkVoucherTime(voucher: VoucherSnapshot, time: TimeContext): Rejection | null {
  const verdict = evaluateValidity(voucher.validity, voucher.campaign?.validity ?? null, time);
  return verdict === "open" ? null : rejectionForCode(keys[verdict], voucher.code);
}

/**
 * Tiers and their campaigns have one key for all that time can be wrong about. A tier does not
 * outlive its campaign, whatever its own expiration date.
 */
export function checkTierTime(tier: TierSnapshot, time: TimeContext): Rejection | null {
  const campaign = tier.campaign?.validity ?? null;
  const isOver =
    campaign !== null && campaign.expirationDate !== null && time.now > campaign.expirationDate;
  return !isOver && evaluateValidity(tier.validity, campaign, time) === "open"
    ? null
    : {
        key: "promotion_not_active_now",
        details: `Promotion Tier with id: ${tier.id} is not active now.`,
      };
}

const keys = {
  not_started: "voucher_not_active",
  ended: "voucher_expired",
  outside_window: "voucher_not_active_now",
} as const satisfies Record<Exclude<ValidityStatus, "open">, string>;
