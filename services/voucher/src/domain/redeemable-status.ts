import type { VoucherUsage } from "./usage.ts";
import type { VoucherDefinition } from "./voucher.ts";

export type RedeemableStatus =
  | "ACTIVE"
  | "DISABLED"
  | "EXPIRED"
  | "NOT_ACTIVE_YET"
  | "USED"
  | "NO_BALANCE";

/** The first reason, in this order, why the voucher cannot be redeemed. */
export function statusOf(
  { active, validity }: VoucherDefinition,
  usage: VoucherUsage,
  {
    now,
    points,
    isCampaignActive,
  }: {
    readonly now: number;
    /** Balance of a loyalty card; null for other vouchers. */
    readonly points: bigint | null;
    readonly isCampaignActive: boolean;
  },
): RedeemableStatus {
  const { startDate, expirationDate } = validity;
  if (active === false || !isCampaignActive) return "DISABLED";
  if (expirationDate !== null && expirationDate < now) return "EXPIRED";
  if (startDate !== null && startDate > now) return "NOT_ACTIVE_YET";
  if (usage.quantity !== null && usage.redeemedQuantity >= usage.quantity) return "USED";
  const balance = usage.balance ?? points;
  return balance === 0n ? "NO_BALANCE" : "ACTIVE";
}
