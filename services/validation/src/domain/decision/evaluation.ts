import type { BundleResult } from "../bundles/bundle-result.ts";
import type { RedemptionUsage } from "../counts/counts.ts";
import type { DecisionRequest } from "../decide.ts";
import type { Subject } from "../input/subject.ts";
import type { OrderState } from "../order/order-state.ts";
import type { Rejection } from "../rejections/rejection.ts";
import type { Benefit, DiscountedUnits, Guard, MatchedScope } from "./decision.ts";
import type { Explanation } from "./explanation-steps.ts";
import type { Hint } from "./hint.ts";

/** What stays the same for all redeemables of a request. */
export type EvaluationContext = Omit<DecisionRequest, "redeemables"> & {
  /** The order before any of them. */
  readonly start: OrderState;
};

export type Evaluation =
  | {
      readonly kind: "applicable";
      readonly benefit: Benefit;
      /** False when nothing was taken off and no credits were spent. */
      readonly hasEffect: boolean;
      readonly state: OrderState;
      /** What it adds to the counts that others are limited by. */
      readonly usage: RedemptionUsage;
      readonly guards: readonly Guard[];
      readonly bundle: BundleResult | null;
      readonly scope: MatchedScope;
      readonly units: readonly DiscountedUnits[];
      readonly explanation: Explanation | null;
    }
  | {
      readonly kind: "inapplicable";
      readonly rejection: Rejection;
      readonly bundle: BundleResult | null;
      readonly scope: MatchedScope;
      readonly hints: readonly Hint[];
      readonly explanation: Explanation | null;
    };

/** What one redeemable is evaluated on. */
export type EvaluationInput = EvaluationContext & {
  readonly subject: Subject;
  /** The order as it stands. */
  readonly state: OrderState;
};
