import { type Count, countKey, type CountScope } from "@scrip/rules";

import type { CustomerSnapshot } from "../input/customer.ts";

/**
 * Id of a customer who is stored with the redemption only. They have no earlier redemptions, but the
 * second of two concurrent requests must count the usage of the first.
 */
export const UNSTORED_CUSTOMER = "unstored";

/** The customer of a count per customer; null without a customer. */
export const countCustomerId = (customer: CustomerSnapshot | null): string | null =>
  customer === null ? null : (customer.id ?? UNSTORED_CUSTOMER);

/** Units of a product that an item-level effect discounted. */
export type DiscountedUnits = { readonly productId: string; readonly quantity: bigint };

/** The contribution of one redemption to the counts of its voucher or tier, and of its campaign. */
export type RedemptionUsage = {
  readonly scopes: readonly CountScope[];
  readonly orderAmount: bigint;
  readonly discountedAmount: bigint;
  readonly credits: bigint;
  /** By product. */
  readonly units: ReadonlyMap<string, bigint>;
};

/** How much the usage adds to a count of the same customer and caller. */
export function countIncrement(
  usage: RedemptionUsage,
  { scope, measure, productId }: Count,
): bigint {
  if (!usage.scopes.some(({ kind, id }) => kind === scope.kind && id === scope.id)) return 0n;
  switch (measure) {
    case "REDEMPTIONS":
      return 1n;
    case "ORDERS_AMOUNT":
      return usage.orderAmount;
    case "DISCOUNTED_AMOUNT":
      return usage.discountedAmount;
    case "GIFT_CREDITS":
      return usage.credits;
    case "UNITS":
      return (productId === null ? undefined : usage.units.get(productId)) ?? 0n;
    default:
      return measure satisfies never;
  }
}

/**
 * Counts within one request: `add` includes the usage of an applied redeemable for those after it.
 */
export function runningCounts(
  loaded: ReadonlyMap<string, bigint>,
  required: readonly Count[],
): {
  readonly counts: ReadonlyMap<string, bigint>;
  readonly add: (usage: RedemptionUsage) => void;
} {
  const running = new Map(loaded);
  const byScope = new Map<string, Map<string, Count>>();
  for (const count of required) {
    const scope = scopeKey(count.scope);
    const ofScope = byScope.get(scope) ?? new Map<string, Count>();
    byScope.set(scope, ofScope.set(countKey(count), count));
  }
  const add = (usage: RedemptionUsage): void => {
    const affected = usage.scopes.flatMap((scope) => [...(byScope.get(scopeKey(scope)) ?? [])]);
    for (const [key, count] of affected) {
      const increment = countIncrement(usage, count);
      if (increment !== 0n) running.set(key, (running.get(key) ?? 0n) + increment);
    }
  };
  return { counts: running, add };
}

const scopeKey = ({ kind, id }: CountScope): string => `${kind} ${id}`;
