import type { Discount, DiscountEffect } from "@scrip/rules";

import type { GiftEffect, Redeemable } from "./facts.ts";
import type { Refused } from "./refusal.ts";

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
  /** At the positions of the lines that were sent. */
  readonly lines: readonly LineFigures[];
};

export type LineFigures = {
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
};

/**
 * A condition that the decision relied on and that concurrent requests can break. Whoever commits
 * checks it again under the lock; one that no longer holds is an ordinary refusal.
 */
export type Guard =
  | {
      readonly kind: "definition_version";
      readonly voucherId: string;
      readonly definitionVersion: bigint;
    }
  | { readonly kind: "quantity_left"; readonly voucherId: string }
  | { readonly kind: "gift_balance"; readonly voucherId: string; readonly credits: bigint };

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
    }
  | {
      readonly kind: "gift";
      readonly effect: GiftEffect;
      /** Before this redemption. */
      readonly balance: bigint;
      readonly credits: bigint;
      readonly lockedCredits: bigint;
    };

export type SkipKey =
  | "applicable_redeemables_limit_exceeded"
  | "applicable_redeemables_per_category_limit_exceeded"
  | "applicable_exclusive_redeemables_limit_exceeded"
  | "applicable_exclusive_redeemables_per_category_limit_exceeded"
  | "exclusion_rules_not_met"
  | "preceding_validation_failed"
  | "no_effect";

export type Skip = { readonly key: SkipKey; readonly message: string };

type Judged = {
  /** In the request, counted from 0; the answer is in the order of processing. */
  readonly position: number;
  readonly redeemable: Redeemable;
};

export type Applicable = Judged & {
  readonly status: "APPLICABLE";
  readonly benefit: Benefit;
  /** After this redeemable; null when the request carries no order. */
  readonly order: OrderFigures | null;
  readonly guards: readonly Guard[];
};

export type Inapplicable = Judged & { readonly status: "INAPPLICABLE"; readonly refusal: Refused };

export type Skipped = Judged & { readonly status: "SKIPPED"; readonly skip: Skip };

export type JudgedRedeemable = Applicable | Inapplicable | Skipped;

export type Decision =
  | {
      readonly kind: "decided";
      readonly valid: boolean;
      /** Every redeemable of the request, in the order of processing. */
      readonly redeemables: readonly JudgedRedeemable[];
      /** After all of them; null when not valid or without an order. */
      readonly order: OrderFigures | null;
      /** Of all that apply; empty when not valid. */
      readonly guards: readonly Guard[];
    }
  /** The request as a whole is refused: nothing in it was evaluated. */
  | { readonly kind: "malformed"; readonly refusal: Refused };
