import { type TimeContext, type ValidityStatus, evaluateValidity } from "@scrip/rules";

import type { TierSnapshot, VoucherSnapshot } from "../input/voucher.ts";
import { type Rejection, rejectionForCode } from "../rejections/rejection.ts";

/**
 * Rejects a voucher outside its own time limits or those of its campaign: start and expiration
 * dates, validity timeframe, days of week and happy hours. docs/time-limits.md
 */
export function checkVoucherTime(voucher: VoucherSnapshot, time: TimeContext): Rejection | null {
  const verdict = evaluateValidity(voucher.validity, voucher.campaign?.validity ?? null, time);
  return verdict === "open" ? null : rejectionForCode(keys[verdict], voucher.code);
}

/**
 * Promotion tiers have one key for all time limits. A tier is never valid after its campaign
 * expires, even if its own expiration date is later. docs/time-limits.md#start-and-expiration
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
