import type { CustomerSnapshot } from "../input/facts.ts";

/** A number that redemptions raise and rollbacks lower; mirrors `Count` of the voucher service. */
export type Count = {
  readonly scope: CountScope;
  readonly measure: CountMeasure;
  /** Only of this customer. */
  readonly customerId: string | null;
  /** Only by this application or user. */
  readonly channelId: string | null;
  /** Only from this instant on: the start of a day, week or month in the project's time zone. */
  readonly since: number | null;
  /** Units: of this product. */
  readonly productId: string | null;
};

export type CountScope = {
  readonly kind: "voucher" | "promotion_tier" | "campaign";
  readonly id: string;
};

export type CountMeasure =
  | "REDEMPTIONS"
  | "ORDERS_AMOUNT"
  | "DISCOUNTED_AMOUNT"
  | "GIFT_CREDITS"
  | "UNITS";

/**
 * Stands for the id of a customer who will be stored with the redemption only. Nothing was redeemed
 * before, but of two requests at once the second must see what the first one took.
 */
export const UNSTORED_CUSTOMER = "unstored";

/** Whose redemptions are counted where a count is of one customer; null: nobody's. */
export const countCustomerId = (customer: CustomerSnapshot | null): string | null =>
  customer === null ? null : (customer.id ?? UNSTORED_CUSTOMER);

/** The same text for the same number, to look counts up by. */
export const countKey = ({
  scope,
  measure,
  customerId,
  channelId,
  since,
  productId,
}: Count): string =>
  JSON.stringify([scope.kind, scope.id, measure, customerId, channelId, since, productId]);

/** What one redemption adds to the counts of its voucher or tier, and of its campaign. */
export type RedemptionUsage = {
  readonly scopes: readonly CountScope[];
  readonly orderAmount: bigint;
  readonly discountedAmount: bigint;
  readonly credits: bigint;
  /** By product. */
  readonly units: ReadonlyMap<string, bigint>;
};

/** What a use adds to a count of the same customer and caller. */
export function countIncrement(use: RedemptionUsage, { scope, measure, productId }: Count): bigint {
  if (!use.scopes.some(({ kind, id }) => kind === scope.kind && id === scope.id)) return 0n;
  switch (measure) {
    case "REDEMPTIONS":
      return 1n;
    case "ORDERS_AMOUNT":
      return use.orderAmount;
    case "DISCOUNTED_AMOUNT":
      return use.discountedAmount;
    case "GIFT_CREDITS":
      return use.credits;
    case "UNITS":
      return (productId === null ? undefined : use.units.get(productId)) ?? 0n;
    default:
      return measure satisfies never;
  }
}

/**
 * The counts as redeemables of one request find them one after another: `add` says that one was
 * applied, and what it counts for is counted when the next one is decided.
 */
export function runningCounts(
  counts: ReadonlyMap<string, bigint>,
  names: readonly Count[],
): { readonly counts: ReadonlyMap<string, bigint>; readonly add: (use: RedemptionUsage) => void } {
  const running = new Map(counts);
  const byScope = new Map<string, Map<string, Count>>();
  for (const name of names) {
    const scope = scopeKey(name.scope);
    const known = byScope.get(scope) ?? new Map<string, Count>();
    byScope.set(scope, known.set(countKey(name), name));
  }
  const add = (use: RedemptionUsage): void => {
    for (const [key, name] of use.scopes.flatMap((one) => [
      ...(byScope.get(scopeKey(one)) ?? []),
    ])) {
      const added = countIncrement(use, name);
      if (added !== 0n) running.set(key, (running.get(key) ?? 0n) + added);
    }
  };
  return { counts: running, add };
}

const scopeKey = ({ kind, id }: CountScope): string => `${kind} ${id}`;
