import type { MatchedScope } from "../applicable-items/matched-scope.ts";
import type { BundleResult } from "../bundles/bundle-result.ts";
import type { CountGuard } from "../counts/count-guard.ts";
import type { DiscountedUnits } from "../counts/counts.ts";
import type { Redeemable } from "../input/redeemable.ts";
import type { OrderFigures } from "../order/order-figures.ts";
import type { Rejection } from "../rejections/rejection.ts";
import type { SkipReason } from "../stacking/skip-reasons.ts";
import type { Benefit } from "./benefit.ts";
import type { Explanation } from "./explanation-steps.ts";
import type { Hint } from "./hint.ts";

type RequestPosition = {
  /** Index in the request; results are in the order of processing. */
  readonly position: number;
  readonly redeemable: Redeemable;
};

export type ApplicableRedeemable = RequestPosition & {
  readonly status: "APPLICABLE";
  readonly benefit: Benefit;
  /** The order after this redeemable; null if the request has no order. */
  readonly order: OrderFigures | null;
  /** Counts that the commit must check again under its locks. */
  readonly guards: readonly CountGuard[];
  /** null without bundle rules. */
  readonly bundle: BundleResult | null;
  readonly scope: MatchedScope;
  readonly units: readonly DiscountedUnits[];
  /** null unless requested. */
  readonly explanation: Explanation | null;
};

export type InapplicableRedeemable = RequestPosition & {
  readonly status: "INAPPLICABLE";
  readonly rejection: Rejection;
  readonly bundle: BundleResult | null;
  readonly scope: MatchedScope;
  /** Empty unless an explanation was requested. */
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
      /**
       * The order after all of them; null if the decision is not valid or the request has no order.
       */
      readonly order: OrderFigures | null;
    }
  /** The request as a whole is rejected; no redeemable was evaluated. */
  | { readonly kind: "malformed"; readonly rejection: Rejection };
