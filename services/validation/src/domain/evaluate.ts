import type { BundleResult } from "./bundle-result.ts";
import type { DecisionRequest } from "./decide.ts";
import type { Benefit, DiscountedUnits, Guard, ReachedScope } from "./decision.ts";
import { applyDiscount } from "./discount.ts";
import type {
  CategoryFacts,
  Redeemable,
  TierFacts,
  TierRedeemable,
  VoucherFacts,
  VoucherRedeemable,
} from "./facts.ts";
import { formulaValues } from "./formula.ts";
import { spendGift } from "./gift.ts";
import type { Hint } from "./hints.ts";
import { refuseReward } from "./loyalty.ts";
import { type OrderState, totalAmount } from "./order.ts";
import { type Refused, refusedForCode, resourceNotFound } from "./refusal.ts";
import { selectLines } from "./selection.ts";
import { calculationMode } from "./stacking-rules.ts";
import { checkTierTime, checkVoucherTime } from "./time-limits.ts";
import type { Trace } from "./trace.ts";

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
      readonly guards: readonly Guard[];
      readonly bundle: BundleResult | null;
      readonly scope: ReachedScope;
      readonly units: readonly DiscountedUnits[];
      readonly trace: Trace | null;
    }
  | {
      readonly kind: "inapplicable";
      readonly refusal: Refused;
      readonly bundle: BundleResult | null;
      readonly scope: ReachedScope;
      readonly hints: readonly Hint[];
      readonly trace: Trace | null;
    };

/**
 * Evaluates one redeemable on the order as it stands. The order of the steps is public
 * (spec/validation-and-redemption.md §0.2): the first that fails decides which error is shown.
 */
export function evaluate(
  redeemable: Redeemable,
  state: OrderState,
  context: EvaluationContext,
): Evaluation {
  if (redeemable.object !== "voucher") return evaluateTier(redeemable, state, context);
  const { voucher } = redeemable;
  if (voucher === null) return inapplicable(resourceNotFound(redeemable.object, redeemable.id));
  const refusal =
    checkActive(voucher) ?? checkVoucherTime(voucher, context.moment) ?? checkQuantity(voucher);
  if (refusal !== null) return inapplicable(refusal);
  return applyValue(redeemable, voucher, state, context);
}

function evaluateTier(
  { object, id, tier }: TierRedeemable,
  state: OrderState,
  context: EvaluationContext,
): Evaluation {
  if (tier === null) return inapplicable(resourceNotFound(object, id));
  const refusal = checkTierActive(tier) ?? checkTierTime(tier, context.moment);
  if (refusal !== null) return inapplicable(refusal);
  const { discount } = tier;
  const applied = discount && applyDiscount(discount, state, termsOf(tier, state, context));
  const after = applied?.state ?? state;
  return {
    kind: "applicable",
    benefit: {
      kind: "discount",
      effect: applied?.effect ?? null,
      isDynamic: applied?.isDynamic ?? false,
      value: applied?.value ?? null,
    },
    hasEffect: totalAmount(after) < totalAmount(state),
    state: after,
    guards: [],
    ...NOTHING_BESIDE,
  };
}

function termsOf(tier: TierFacts, state: OrderState, context: EvaluationContext) {
  const { stacking, start } = context;
  return {
    mode: calculationMode(categoriesOf({ object: "promotion_tier", id: tier.id, tier }), stacking),
    selection: selectLines(state, start, stacking.redeemablesProductsApplicationMode),
    formulaValue: () => null,
  };
}

/** Of the redeemable itself and of its campaign. */
export function categoriesOf(redeemable: Redeemable): readonly CategoryFacts[] {
  const facts = redeemable.object === "voucher" ? redeemable.voucher : redeemable.tier;
  if (facts === null) return [];
  const { categories, campaign } = facts;
  if (campaign === null || campaign.categories.length === 0) return categories;
  const own = new Set(categories.map((category) => category.id));
  return [...categories, ...campaign.categories.filter((category) => !own.has(category.id))];
}

function checkActive(voucher: VoucherFacts): Refused | null {
  const isSwitchedOff = voucher.active === false || voucher.campaign?.active === false;
  return isSwitchedOff ? refusedForCode("voucher_disabled", voucher.code) : null;
}

function checkTierActive(tier: TierFacts): Refused | null {
  if (tier.active !== false && tier.campaign?.active !== false) return null;
  return {
    key: "promotion_inactive",
    details: `Promotion Tier with id: ${tier.id} is disabled.`,
  };
}

function checkQuantity(voucher: VoucherFacts): Refused | null {
  const { quantity, redeemedQuantity, lockedQuantity } = voucher;
  const isUsedUp = quantity !== null && redeemedQuantity + lockedQuantity >= quantity;
  return isUsedUp ? refusedForCode("quantity_exceeded", voucher.code) : null;
}

function applyValue(
  redeemable: VoucherRedeemable,
  voucher: VoucherFacts,
  state: OrderState,
  context: EvaluationContext,
): Evaluation {
  const { value } = voucher;
  const { stacking, start } = context;
  const selection = selectLines(state, start, stacking.redeemablesProductsApplicationMode);
  switch (value.type) {
    case "DISCOUNT_VOUCHER": {
      const mode = calculationMode(categoriesOf(redeemable), stacking);
      const formulaValue = formulaValues(value.discount?.formula ?? null, voucher, state, context);
      const applied =
        value.discount === null
          ? { effect: null, isDynamic: false, value: null, state }
          : applyDiscount(value.discount, state, { mode, selection, formulaValue });
      const { effect, isDynamic, value: dynamicValue } = applied;
      return {
        kind: "applicable",
        benefit: { kind: "discount", effect, isDynamic, value: dynamicValue },
        hasEffect: totalAmount(applied.state) < totalAmount(state),
        state: applied.state,
        guards: guardsOf(voucher, 0n),
        ...NOTHING_BESIDE,
      };
    }
    case "GIFT_VOUCHER": {
      const { credits } = redeemable;
      const outcome = spendGift({ voucher, value, credits, selection }, state);
      if (outcome.kind === "refused") return inapplicable(outcome.refusal);
      const { benefit } = outcome;
      return {
        kind: "applicable",
        benefit,
        hasEffect: benefit.credits > 0n,
        state: outcome.state,
        guards: guardsOf(voucher, benefit.credits),
        ...NOTHING_BESIDE,
      };
    }
    case "LOYALTY_CARD":
      return inapplicable(refuseReward(redeemable.rewardId));
    default:
      return value satisfies never;
  }
}

function guardsOf(voucher: VoucherFacts, giftCredits: bigint): readonly Guard[] {
  const { id: voucherId, definitionVersion } = voucher;
  const guards: Guard[] = [{ kind: "definition_version", voucherId, definitionVersion }];
  if (voucher.quantity !== null) guards.push({ kind: "quantity_left", voucherId });
  if (giftCredits > 0n) guards.push({ kind: "gift_balance", voucherId, credits: giftCredits });
  return guards;
}

const NOTHING_BESIDE = {
  bundle: null,
  scope: { applicable: [], inapplicable: [] },
  units: [],
  trace: null,
} as const;

const inapplicable = (refusal: Refused): Evaluation => ({
  kind: "inapplicable",
  refusal,
  bundle: null,
  scope: { applicable: [], inapplicable: [] },
  hints: [],
  trace: null,
});
