import type { JsonObject } from "@bufbuild/protobuf";
import { meetsConditions } from "@scrip/rules";

export type CountScope = "voucher" | "promotion_tier" | "campaign";

export type CountMeasure =
  | "redemptions"
  | "orders_amount"
  | "discounted_amount"
  | "gift_credits"
  | "units";

/** A number that redemptions raise and rollbacks lower; null means that it does not matter. */
export type Count = {
  readonly projectId: string;
  readonly scope: CountScope;
  readonly scopeId: string;
  readonly measure: CountMeasure;
  readonly customerId: string | null;
  readonly channelId: string | null;
  /** Only from this instant on, in epoch milliseconds. */
  readonly since: number | null;
  /** Units: of this product. */
  readonly productId: string | null;
};

/** The same for the same number. */
export const countKey = (count: Count): string =>
  JSON.stringify([
    count.projectId,
    count.scope,
    count.scopeId,
    count.measure,
    count.customerId,
    count.channelId,
    count.since,
    count.productId,
  ]);

/** Holds while the count with `add` on top meets the conditions. */
export type Guard = {
  readonly count: Count;
  readonly add: bigint;
  /** Operators and operands of a validation rule. */
  readonly conditions: JsonObject;
  /** Whether it says what is answered when it does not hold; otherwise it is decided again. */
  readonly refuses: boolean;
};

export type Units = { readonly productId: string; readonly quantity: bigint };

/** What one redemption adds to the counts of its voucher or tier, and of its campaign. */
export type Addition = {
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
  readonly units: readonly Units[];
};

export const amountOf = (measure: CountMeasure, productId: string | null, of: Addition): bigint => {
  switch (measure) {
    case "redemptions":
      return 1n;
    case "orders_amount":
      return of.orderAmount;
    case "discounted_amount":
      return of.discountedAmount;
    case "gift_credits":
      return of.credits;
    case "units":
      return of.units.reduce(
        (sum, unit) => (unit.productId === productId ? sum + unit.quantity : sum),
        0n,
      );
    default:
      return measure satisfies never;
  }
};

export type KnownCount = { readonly count: Count; readonly value: bigint };

/** The counts that the guards of a batch name, as its commands move them. */
export type Tally = {
  holds(guard: Guard): boolean;
  /** With -1 what was added is taken off again. */
  add(addition: Addition, sign: 1n | -1n): void;
};

export function createTally(known: readonly KnownCount[]): Tally {
  const lines = new Map(known.map(({ count, value }) => [countKey(count), { count, value }]));
  // By what an addition can name, so that of many customers only its own is looked at.
  const byScope = Map.groupBy(lines.values(), ({ count }) =>
    scopeKey(count.projectId, count.scopeId, count.customerId),
  );
  return {
    holds({ count, add, conditions }) {
      const line = lines.get(countKey(count));
      if (line === undefined) throw new Error("a guard was not counted");
      return meetsConditions(line.value + add, conditions);
    },
    add(addition, sign) {
      if (lines.size === 0) return;
      const { projectId, voucherId, tierId, campaignId, customerId } = addition;
      for (const scopeId of [voucherId, tierId, campaignId]) {
        if (scopeId === null) continue;
        for (const customer of customerId === null ? [null] : [null, customerId]) {
          for (const line of byScope.get(scopeKey(projectId, scopeId, customer)) ?? []) {
            if (isCounted(line.count, addition)) {
              line.value += sign * amountOf(line.count.measure, line.count.productId, addition);
            }
          }
        }
      }
    },
  };
}

/** Ids tell by their prefix what they are of, so a scope needs no name beside its id. */
const scopeKey = (projectId: string, scopeId: string, customerId: string | null): string =>
  JSON.stringify([projectId, scopeId, customerId]);

const isCounted = ({ since, channelId }: Count, addition: Addition): boolean =>
  (since === null || addition.at >= since) &&
  (channelId === null || addition.channelId === channelId);
