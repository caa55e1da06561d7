import type { Metadata, Moment } from "@scrip/rules";

import type { Benefit, Guard } from "./decision.ts";
import { applyDiscount } from "./discount.ts";
import type {
  CategoryFacts,
  CustomerFacts,
  OrderFacts,
  Redeemable,
  VoucherFacts,
} from "./facts.ts";
import { formulaValues } from "./formula.ts";
import { spendGift } from "./gift.ts";
import { refuseReward } from "./loyalty.ts";
import { type OrderState, totalAmount } from "./order.ts";
import { type Refused, refusedForCode, resourceNotFound } from "./refusal.ts";
import { selectLines } from "./selection.ts";
import { type StackingRules, calculationMode } from "./stacking-rules.ts";
import { checkVoucherTime } from "./time-limits.ts";

/** What stays the same for all redeemables of a request. */
export type EvaluationContext = {
  readonly moment: Moment;
  readonly stacking: StackingRules;
  /** The order before any of them. */
  readonly start: OrderState;
  readonly order: OrderFacts | null;
  readonly customer: CustomerFacts | null;
  readonly metadata: Metadata;
};

export type Evaluation =
  | {
      readonly kind: "applicable";
      readonly benefit: Benefit;
      /** False when nothing was taken off and no credits were spent. */
      readonly hasEffect: boolean;
      readonly state: OrderState;
      readonly guards: readonly Guard[];
    }
  | { readonly kind: "inapplicable"; readonly refusal: Refused };

/**
 * Evaluates one redeemable on the order as it stands. The order of the steps is public
 * (spec/validation-and-redemption.md §0.2): the first that fails decides which error is shown.
 */
export function evaluate(
  redeemable: Redeemable,
  state: OrderState,
  context: EvaluationContext,
): Evaluation {
  const { voucher } = redeemable;
  if (voucher === null) return inapplicable(resourceNotFound(redeemable.object, redeemable.id));
  const refusal =
    checkActive(voucher) ?? checkVoucherTime(voucher, context.moment) ?? checkQuantity(voucher);
  if (refusal !== null) return inapplicable(refusal);
  return applyValue(redeemable, voucher, state, context);
}

/** Of the redeemable itself and of its campaign. */
export function categoriesOf(redeemable: Redeemable): readonly CategoryFacts[] {
  const { voucher } = redeemable;
  if (voucher === null) return [];
  const { categories, campaign } = voucher;
  if (campaign === null || campaign.categories.length === 0) return categories;
  const own = new Set(categories.map((category) => category.id));
  return [...categories, ...campaign.categories.filter((category) => !own.has(category.id))];
}

function checkActive(voucher: VoucherFacts): Refused | null {
  const isSwitchedOff = voucher.active === false || voucher.campaign?.active === false;
  return isSwitchedOff ? refusedForCode("voucher_disabled", voucher.code) : null;
}

function checkQuantity(voucher: VoucherFacts): Refused | null {
  const { quantity, redeemedQuantity, lockedQuantity } = voucher;
  const isUsedUp = quantity !== null && redeemedQuantity + lockedQuantity >= quantity;
  return isUsedUp ? refusedForCode("quantity_exceeded", voucher.code) : null;
}

function applyValue(
  redeemable: Redeemable,
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

const inapplicable = (refusal: Refused): Evaluation => ({ kind: "inapplicable", refusal });
