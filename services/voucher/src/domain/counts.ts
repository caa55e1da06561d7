import type { JsonObject } from "@bufbuild/protobuf";
import { type Count, countKey, type CountMeasure, meetsConditions } from "@scrip/rules";

/** A count, and the project that it belongs to. */
export type ProjectCount = Count & { readonly projectId: string };

/** Equal for equal counts of one project. */
export const projectCountKey = (count: ProjectCount): string =>
  `${count.projectId} ${countKey(count)}`;

/** Holds while the count with `add` on top meets the conditions. */
export type Guard = {
  readonly count: ProjectCount;
  readonly add: bigint;
  /** Operators and operands of a validation rule. */
  readonly conditions: JsonObject;
  /** Whether a failed guard rejects the command; otherwise the decision is stale. */
  readonly rejects: boolean;
};

export type ProductUnits = { readonly productId: string; readonly quantity: bigint };

/** What one redemption adds to the counts of its voucher or tier, and of its campaign. */
export type CountIncrement = {
  readonly projectId: string;
  readonly voucherId: string | null;
  readonly tierId: string | null;
  readonly campaignId: string | null;
  readonly customerId: string | null;
  readonly channelId: string;
  readonly at: number;
  readonly orderAmount: bigint;
  readonly discountedAmount: bigint;
  readonly credits: bigint;
  readonly units: readonly ProductUnits[];
};

export const incrementFor = (
  measure: CountMeasure,
  productId: string | null,
  of: CountIncrement,
): bigint => {
  switch (measure) {
    case "REDEMPTIONS":
      return 1n;
    case "ORDERS_AMOUNT":
      return of.orderAmount;
    case "DISCOUNTED_AMOUNT":
      return of.discountedAmount;
    case "GIFT_CREDITS":
      return of.credits;
    case "UNITS":
      return of.units.reduce(
        (sum, unit) => (unit.productId === productId ? sum + unit.quantity : sum),
        0n,
      );
    default:
      return measure satisfies never;
  }
};

export type CountValue = { readonly count: ProjectCount; readonly value: bigint };

/** The counts that the guards of a batch refer to, updated by its commands. */
export type Tally = {
  holds(guard: Guard): boolean;
  /** A sign of -1 undoes an increment. */
  add(increment: CountIncrement, sign: 1n | -1n): void;
};

export function createTally(known: readonly CountValue[]): Tally {
  const lines = new Map(
    known.map(({ count, value }) => [projectCountKey(count), { count, value }]),
  );
  // Indexed by scope and customer, so that an increment visits only the counts of its own customer.
  const byScope = Map.groupBy(lines.values(), ({ count }) =>
    scopeKey(count.projectId, count.scope.id, count.customerId),
  );
  return {
    holds({ count, add, conditions }) {
      const line = lines.get(projectCountKey(count));
      if (line === undefined) throw new Error("the count of a guard was not loaded");
      return meetsConditions(line.value + add, conditions);
    },
    add(increment, sign) {
      if (lines.size === 0) return;
      const { projectId, voucherId, tierId, campaignId, customerId } = increment;
      for (const scopeId of [voucherId, tierId, campaignId]) {
        if (scopeId === null) continue;
        for (const customer of customerId === null ? [null] : [null, customerId]) {
          for (const line of byScope.get(scopeKey(projectId, scopeId, customer)) ?? []) {
            if (matches(line.count, increment)) {
              line.value +=
                sign * incrementFor(line.count.measure, line.count.productId, increment);
            }
          }
        }
      }
    },
  };
}

/** Prefixes make ids unique across scopes, so the id alone names the scope. */
const scopeKey = (projectId: string, scopeId: string, customerId: string | null): string =>
  JSON.stringify([projectId, scopeId, customerId]);

const matches = ({ since, channelId }: Count, increment: CountIncrement): boolean =>
  (since === null || increment.at >= since) &&
  (channelId === null || increment.channelId === channelId);
