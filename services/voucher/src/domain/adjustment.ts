import { ApiError } from "@scrip/errors";

import { type GiftUsage, usageAfterAdjustment, type VoucherUsage } from "./usage.ts";

/** Bound of `gift.amount`, as at creation. */
export const MAX_GIFT_AMOUNT = 10_000_000_000_000n;

/** Decides an adjustment of a gift voucher: credits that sessions lock cannot be removed. */
export function decideAdjustment(
  usage: VoucherUsage,
  { change, lockedCredits }: { readonly change: bigint; readonly lockedCredits: bigint },
): GiftUsage {
  const { amount, balance } = usage;
  if (amount === null || balance === null) {
    throw new ApiError("invalid_add_balance_params", {
      details: "Only the balance of a gift voucher can be adjusted",
    });
  }
  if (change === 0n) {
    throw new ApiError("invalid_amount", { details: "Property .amount must not be 0" });
  }
  const free = balance - lockedCredits;
  if (change < 0n && -change > free) {
    throw new ApiError("gift_amount_exceeded", {
      details: `At most ${free > 0n ? free : 0n} credits can be removed`,
    });
  }
  if (change > 0n && amount + change > MAX_GIFT_AMOUNT) {
    throw new ApiError("invalid_amount", {
      details: `The amount of a gift voucher cannot exceed ${MAX_GIFT_AMOUNT}`,
    });
  }
  return usageAfterAdjustment({ ...usage, amount, balance }, change);
}
