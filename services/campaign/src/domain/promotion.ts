import type { DiscountDefinition, Validity } from "@scrip/rules";

import type { Json } from "./campaign.ts";

/** A discount without a code. Times are epoch milliseconds. */
export type PromotionTier = {
  readonly id: string;
  readonly campaignId: string;
  readonly name: string;
  readonly banner: string | null;
  readonly discount: DiscountDefinition;
  /** The lower one is applied first. */
  readonly hierarchy: bigint;
  readonly active: boolean;
  readonly categoryId: string | null;
  readonly validity: Validity;
  readonly metadata: Json;
  readonly createdAt: number;
  readonly updatedAt: number | null;
};

/** Tiers that apply together, in the order of `tierIds`. */
export type PromotionStack = {
  readonly id: string;
  readonly campaignId: string;
  readonly name: string;
  readonly tierIds: readonly string[];
  readonly categoryId: string | null;
  readonly metadata: Json;
  readonly createdAt: number;
  readonly updatedAt: number | null;
};
