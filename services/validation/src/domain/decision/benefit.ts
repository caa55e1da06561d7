import type { Discount, DiscountEffect } from "@scrip/rules";

import type { CatalogueItem } from "../input/catalogue-item.ts";
import type { GiftEffect } from "../input/voucher.ts";

/**
 * What an applicable redeemable gives. docs/order-calculation.md#discount-object,
 * docs/gift-and-points.md
 */
export type Benefit =
  | {
      readonly kind: "discount";
      /** The effect that was applied; null for a voucher without a discount. */
      readonly effect: DiscountEffect | null;
      /** True if a formula returned the value. */
      readonly isDynamic: boolean;
      /**
       * The discount with the value of its formula; null if there is none, or if it differs by
       * line.
       */
      readonly value: Discount | null;
      /**
       * Free or exchanged units, one element for each element of a unit discount; empty for money.
       */
      readonly grants: readonly AppliedUnitGrant[];
    }
  | {
      readonly kind: "gift";
      readonly effect: GiftEffect;
      /** Before this redemption. */
      readonly balance: bigint;
      readonly credits: bigint;
      readonly lockedCredits: bigint;
    }
  | {
      readonly kind: "loyalty";
      /** null for a material reward, which does not change the order. */
      readonly effect: "APPLY_TO_ORDER" | null;
      /** Before this redemption. */
      readonly balance: bigint;
      readonly points: bigint;
      readonly lockedPoints: bigint;
    };

export type AppliedUnitGrant = {
  /** Before multiplication by the number of bundles. */
  readonly unitOff: bigint;
  /** True if a formula returned it. */
  readonly isDynamic: boolean;
  /** The added item; null if the catalogue does not contain it, or for `ADD_SAME_ITEMS`. */
  readonly item: CatalogueItem | null;
};
