import { multiplyDecimals, roundHalfUp } from "@scrip/money";

import type { TierMapping } from "../earning/earned-points.ts";

/** How a tier changes the price of a reward. */
export type PriceMapping = TierMapping | { readonly type: "NOT_AVAILABLE" };

/** A loyalty tier of a program (docs/tiers.md). */
export type Tier = {
  readonly id: string;
  readonly campaignId: string;
  readonly name: string;
  /** The values that qualify, inclusive; `to` null: no upper bound. Ranges of a program do not overlap. */
  readonly from: bigint;
  readonly to: bigint | null;
  /** By id of the earning rule. */
  readonly earningRules: ReadonlyMap<string, TierMapping>;
  /** By id of the reward assignment. */
  readonly rewards: ReadonlyMap<string, PriceMapping>;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly createdAt: number;
  readonly updatedAt: number | null;
  /** Deleted tiers remain, so that changes can show what members left. */
  readonly deleted: boolean;
};

/** The tier that a value qualifies for. */
export const qualifiedTier = (tiers: readonly Tier[], value: bigint): Tier | null =>
  tiers.find(
    ({ deleted, from, to }) => !deleted && from <= value && (to === null || value <= to),
  ) ?? null;

/** Two tiers of which some value would qualify for both. */
export function overlappingTiers(tiers: readonly Tier[]): readonly [Tier, Tier] | null {
  const sorted = tiers
    .filter(({ deleted }) => !deleted)
    .toSorted((a, b) => (a.from < b.from ? -1 : a.from > b.from ? 1 : 0));
  for (const [index, next] of sorted.entries()) {
    const before = sorted[index - 1];
    if (before !== undefined && (before.to === null || before.to >= next.from)) {
      return [before, next];
    }
  }
  return null;
}

/** The points of an earning rule in a tier, as they are shown: rounded half up. */
export function mappedPoints(points: bigint, mapping: TierMapping | undefined): bigint {
  if (mapping === undefined) return points;
  if (mapping.type === "CUSTOM") return mapping.points;
  const product = multiplyDecimals({ unscaled: points, scale: 0 }, mapping.multiplier);
  return product === undefined
    ? points
    : roundHalfUp(product.unscaled, 10n ** BigInt(product.scale));
}

/** The price of a reward in a tier; null: the reward is not available. At least one point. */
export function mappedPrice(points: bigint, mapping: PriceMapping | undefined): bigint | null {
  if (mapping?.type === "NOT_AVAILABLE") return null;
  const price = mappedPoints(points, mapping);
  return price < 1n ? 1n : price;
}

/** The points of a block of a COIN reward in a tier, rounded up; null: the reward is not available. */
export function mappedRatio(ratio: bigint, mapping: PriceMapping | undefined): bigint | null {
  if (mapping?.type !== "MULTIPLY") return mapping?.type === "NOT_AVAILABLE" ? null : ratio;
  const { unscaled, scale } = mapping.multiplier;
  const divisor = 10n ** BigInt(scale);
  const points = (ratio * unscaled + divisor - 1n) / divisor;
  return points < 1n ? 1n : points;
}
