import type { MatchedScope } from "../applicable-items/matched-scope.ts";
import type { BundleResult } from "../bundles/bundle-result.ts";
import type { CountGuard } from "../counts/count-guard.ts";
import type { DiscountedUnits, RedemptionUsage } from "../counts/counts.ts";
import type { Subject } from "../input/subject.ts";
import type { OrderState } from "../order/order-state.ts";
import type { Rejection } from "../rejections/rejection.ts";
import type { Benefit } from "./benefit.ts";
import type { DecisionRequest } from "./decision-request.ts";
import type { Explanation } from "./explanation-steps.ts";
import type { Hint } from "./hint.ts";

/** The part of the input that all redeemables of a request share. */
export type EvaluationContext = Omit<DecisionRequest, "redeemables"> & {
  /** The order before any of them. */
  readonly start: OrderState;
};

/** The input of the evaluation of one redeemable. */
export type EvaluationInput = EvaluationContext & {
  readonly subject: Subject;
  /** The order after the redeemables before it. */
  readonly state: OrderState;
};

export type Evaluation =
  | {
      readonly kind: "applicable";
      readonly benefit: Benefit;
      /** False if nothing was discounted, added or exchanged and no credits or points were used. */
      readonly hasEffect: boolean;
      readonly state: OrderState;
      /** Its contribution to the counts that limit other redemptions. */
      readonly usage: RedemptionUsage;
      readonly guards: readonly CountGuard[];
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
