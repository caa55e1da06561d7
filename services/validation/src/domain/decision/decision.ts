import type { Discount, DiscountEffect, Metadata, ScopeEntry } from "@scrip/rules";

import type { BundleResult } from "../bundles/bundle-result.ts";
import type { Count } from "../counts/counts.ts";
import type { CatalogueItem, GiftEffect, Redeemable } from "../input/facts.ts";
import type { Rejection } from "../rejections/rejection.ts";
import type { Explanation } from "./explanation-steps.ts";
import type { Hint } from "./hint.ts";

/** The figures of a calculated order. The `applied…` ones belong to one redeemable, or one request. */
export type OrderFigures = {
  readonly amount: bigint;
  readonly initialAmount: bigint;
  readonly discountAmount: bigint;
  readonly itemsDiscountAmount: bigint;
  readonly totalDiscountAmount: bigint;
  readonly totalAmount: bigint;
  readonly appliedDiscountAmount: bigint;
  readonly itemsAppliedDiscountAmount: bigint;
  readonly totalAppliedDiscountAmount: bigint;
  /** At the positions of the lines that were sent; lines that were added come after them. */
  readonly lines: readonly LineFigures[];
};

export type LineFigures = {
  /** What a redeemable added the line for; null for one that was sent. */
  readonly addedItem: CatalogueItem | null;
  readonly price: bigint | null;
  readonly quantity: bigint;
  readonly initialQuantity: bigint;
  readonly amount: bigint;
  readonly initialAmount: bigint;
  readonly discountAmount: bigint;
  readonly discountQuantity: bigint;
  readonly subtotalAmount: bigint;
  readonly appliedDiscountAmount: bigint;
  readonly appliedDiscountQuantity: bigint;
  readonly appliedQuantity: bigint;
  readonly appliedQuantityAmount: bigint;
  /** Exchanges that the line took part in. */
  readonly exchanges: readonly UnitExchange[];
};

/** Units of one line that were exchanged for units of another (§1.9). */
export type UnitExchange = {
  readonly sourceIndex: number;
  /** Negative: removed. */
  readonly sourceAppliedQuantity: bigint;
  readonly sourceAppliedQuantityAmount: bigint;
  readonly targetIndex: number;
  readonly targetAppliedQuantity: bigint;
  readonly targetAppliedQuantityAmount: bigint;
  readonly targetAppliedDiscountAmount: bigint;
};

/**
 * A condition that the decision relied on and that concurrent requests can break. Whoever commits
 * checks it again under the lock; one that no longer holds is an ordinary rejection.
 */
export type Guard =
  | {
      readonly kind: "definition_version";
      readonly voucherId: string;
      readonly definitionVersion: bigint;
    }
  | { readonly kind: "quantity_left"; readonly voucherId: string }
  | { readonly kind: "gift_balance"; readonly voucherId: string; readonly credits: bigint }
  | {
      /** Holds while the count with `add` on top meets the conditions. */
      readonly kind: "count";
      readonly count: Count;
      readonly add: bigint;
      /** Operators and operands of a validation rule. */
      readonly conditions: Metadata;
      /** What is answered when it does not hold; null: decide again. */
      readonly rejection: Rejection | null;
    };

/** What an applicable redeemable gives. */
export type Benefit =
  | {
      readonly kind: "discount";
      /** The effect that was really used; null for a voucher without a discount. */
      readonly effect: DiscountEffect | null;
      /** True when a formula gave the value. */
      readonly isDynamic: boolean;
      /** The discount with the value of the formula, when it gave one for all that was discounted. */
      readonly value: Discount | null;
      /** Units that were given, one for each element of the discount; empty for money. */
      readonly gifts: readonly AppliedUnitGift[];
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
      /** null for what is handed out, which takes nothing off the order. */
      readonly effect: "APPLY_TO_ORDER" | null;
      /** Before this redemption. */
      readonly balance: bigint;
      readonly points: bigint;
      readonly lockedPoints: bigint;
    };

export type AppliedUnitGift = {
  /** Before bundles multiply it. */
  readonly unitOff: bigint;
  /** True when a formula gave it. */
  readonly isDynamic: boolean;
  /** What is given; null when the catalogue does not know it, or when it is more of the same. */
  readonly item: CatalogueItem | null;
};

export type SkipKey =
  | "applicable_redeemables_limit_exceeded"
  | "applicable_redeemables_per_category_limit_exceeded"
  | "applicable_exclusive_redeemables_limit_exceeded"
  | "applicable_exclusive_redeemables_per_category_limit_exceeded"
  | "exclusion_rules_not_met"
  | "preceding_validation_failed"
  | "no_effect";

export type SkipReason = { readonly key: SkipKey; readonly message: string };

type RequestPosition = {
  /** In the request, counted from 0; the answer is in the order of processing. */
  readonly position: number;
  readonly redeemable: Redeemable;
};

/** An entry of the scope, and what of the order it reached. */
export type MatchedEntry = ScopeEntry & {
  readonly productSourceId: string | null;
  /** Positions of lines, in the order in which they were served. */
  readonly orderItemIndices: readonly number[];
  /** Which units of the lines, counted from 1, when not all of them were reached. */
  readonly orderItemUnits: readonly MatchedUnits[];
};

export type MatchedUnits = {
  readonly index: number;
  /** null when the order has too many units to name them. */
  readonly units: readonly bigint[] | null;
};

/** What an effect is limited to; both lists are empty when it is not. */
export type MatchedScope = {
  readonly applicable: readonly MatchedEntry[];
  readonly inapplicable: readonly MatchedEntry[];
};

/** Units of a product that an item-level effect discounted. */
export type DiscountedUnits = { readonly productId: string; readonly quantity: bigint };

export type ApplicableRedeemable = RequestPosition & {
  readonly status: "APPLICABLE";
  readonly benefit: Benefit;
  /** After this redeemable; null when the request carries no order. */
  readonly order: OrderFigures | null;
  readonly guards: readonly Guard[];
  /** Null without bundle rules. */
  readonly bundle: BundleResult | null;
  readonly scope: MatchedScope;
  readonly units: readonly DiscountedUnits[];
  /** Null unless it was asked for. */
  readonly explanation: Explanation | null;
};

export type InapplicableRedeemable = RequestPosition & {
  readonly status: "INAPPLICABLE";
  readonly rejection: Rejection;
  readonly bundle: BundleResult | null;
  readonly scope: MatchedScope;
  /** Empty unless a trace was asked for. */
  readonly hints: readonly Hint[];
  readonly explanation: Explanation | null;
};

export type SkippedRedeemable = RequestPosition & {
  readonly status: "SKIPPED";
  readonly skip: SkipReason;
  readonly explanation: Explanation | null;
};

export type EvaluatedRedeemable = ApplicableRedeemable | InapplicableRedeemable | SkippedRedeemable;

export type Decision =
  | {
      readonly kind: "decided";
      readonly valid: boolean;
      /** Every redeemable of the request, in the order of processing. */
      readonly redeemables: readonly EvaluatedRedeemable[];
      /** After all of them; null when not valid or without an order. */
      readonly order: OrderFigures | null;
      /** Of all that apply; empty when not valid. */
      readonly guards: readonly Guard[];
    }
  /** The request as a whole is refused: nothing in it was evaluated. */
  | { readonly kind: "malformed"; readonly rejection: Rejection };
