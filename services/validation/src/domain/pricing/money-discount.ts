import { type Decimal, multiplyDecimals, percentIn, percentOf } from "@scrip/money";
import type { MoneyDiscount } from "@scrip/rules";

import type { SelectedLine } from "../applicable-items/item-selection.ts";
import {
  type FormulaValues,
  type Formulas,
  toAmount,
  withFormulaValue,
} from "../formulas/formula-values.ts";
import { atLeastZero, smallestOf } from "../order/minor-units.ts";
import { type LineDiscount, discountLines, discountOrder } from "../order/order-draft.ts";
import { type OrderState, totalAmount } from "../order/order-state.ts";
import type { CalculationMode } from "../stacking/stacking-rules.ts";
import { splitAmount } from "./amount-split.ts";
import {
  type TargetLine,
  percentOfSelectedShare,
  allocateToLines,
  targetLines,
  selectedShare,
} from "./line-allocation.ts";

export type MoneyDiscountContext = {
  readonly mode: CalculationMode;
  /** What an item-level effect reaches, in the order in which it is served. */
  readonly selectedLines: readonly SelectedLine[];
  readonly formulas: Formulas;
  /** The number of bundles, where they count; otherwise one. */
  readonly multiplier: bigint;
};

export type MoneyDiscountResult = {
  readonly state: OrderState;
  /** True when a formula gave a value, of one line at least. */
  readonly isDynamic: boolean;
  /** The discount with that value, when the formula gave one for all that was discounted. */
  readonly value: MoneyDiscount | null;
  /** What was taken off which line, in the order in which they were served. */
  readonly lines: readonly LineDiscount[];
};

export type MoneyEffect = NonNullable<MoneyDiscount["effect"]>;

/** Takes a discount off the order or its lines; spec/validation-and-redemption.md §1.5 and §1.6. */
export function applyMoneyDiscount(
  discount: MoneyDiscount,
  state: OrderState,
  terms: MoneyDiscountContext & { readonly effect: MoneyEffect },
): MoneyDiscountResult {
  const values = terms.formulas(discount.formula);
  switch (terms.effect) {
    case "APPLY_TO_ORDER": {
      const given = values(null);
      const amount = orderDiscount(withFormulaValue(discount, given), state, terms);
      return {
        state: discountOrder(state, amount),
        lines: [],
        ...formulaOutcome(discount, [given]),
      };
    }
    case "APPLY_TO_ITEMS":
    case "APPLY_TO_ITEMS_BY_QUANTITY":
      return discountItems(discount, state, { ...terms, values });
    case "APPLY_TO_ITEMS_PROPORTIONALLY":
    case "APPLY_TO_ITEMS_PROPORTIONALLY_BY_QUANTITY": {
      const given = values(null);
      const own = withFormulaValue(discount, given);
      if (own.type !== "AMOUNT") throw new Error(`a split of type ${own.type}`);
      const lines = splitAmount(targetLines(state, terms.selectedLines), state, {
        amount: smallestOf(own.amountOff * terms.multiplier, totalLimit(own)),
        effect: terms.effect,
        mode: terms.mode,
      });
      return { state: discountLines(state, lines), lines, ...formulaOutcome(discount, [given]) };
    }
    default:
      return terms.effect satisfies never;
  }
}

/** Of formula values, one by one as they were used; null where the static value was. */
function formulaOutcome(
  discount: MoneyDiscount,
  given: readonly (Decimal | null)[],
): Pick<MoneyDiscountResult, "isDynamic" | "value"> {
  const [first = null, ...others] = given;
  return {
    isDynamic: given.some((value) => value !== null),
    value:
      first === null || others.some((value) => value !== first)
        ? null
        : withFormulaValue(discount, first),
  };
}

function orderDiscount(
  discount: MoneyDiscount,
  state: OrderState,
  { mode, multiplier }: MoneyDiscountContext,
): bigint {
  const total = totalAmount(state);
  // A fixed amount is what is left to pay, however many bundles there are.
  const times = discount.type === "FIXED" ? 1n : multiplier;
  const limits = [discount.amountLimit, discount.aggregatedAmountLimit].map((limit) =>
    limit === null ? null : limit * times,
  );
  switch (discount.type) {
    case "PERCENT": {
      const base = mode === "INITIAL_AMOUNT" ? state.amount : total;
      return smallestOf(
        percentOf(base, multipliedPercent(discount.percentOff, times)),
        ...limits,
        total,
      );
    }
    case "AMOUNT":
      return smallestOf(discount.amountOff * times, ...limits, total);
    case "FIXED":
      return smallestOf(atLeastZero(total - discount.fixedAmount), ...limits, total);
    default:
      return discount satisfies never;
  }
}

type ItemDiscountContext = MoneyDiscountContext & {
  readonly effect: MoneyEffect;
  readonly values: FormulaValues;
};

function discountItems(
  discount: MoneyDiscount,
  state: OrderState,
  terms: ItemDiscountContext,
): MoneyDiscountResult {
  const served = targetLines(state, terms.selectedLines);
  const worth = new Map(served.map((one) => [one, lineFormulaValue(discount, one, terms)]));
  const lines = allocateToLines(served, state, {
    limit: totalLimit(discount),
    valueOf(one) {
      const { value: given = null, price = null } = worth.get(one) ?? {};
      return lineDiscount(withFormulaValue(discount, given), one, { ...terms, price });
    },
  });
  const known = formulaOutcome(
    discount,
    [...worth.values()].map(({ value: given }) => given),
  );
  const isDynamic = known.isDynamic || [...worth.values()].some((line) => line.isDynamic);
  return { state: discountLines(state, lines), lines, value: known.value, isDynamic };
}

type LineFormulaValue = {
  /** What the formula of the discount gave; null where the static value counts. */
  readonly value: Decimal | null;
  /** Of a unit, when the entry of the line fixes it. */
  readonly price: bigint | null;
  readonly isDynamic: boolean;
};

/** A price of the entry comes before what the discount says of all lines. */
function lineFormulaValue(
  discount: MoneyDiscount,
  { selected: { index, entry } }: TargetLine,
  { formulas, values }: ItemDiscountContext,
): LineFormulaValue {
  if (discount.type === "FIXED" && entry !== null) {
    const price = formulas(entry.priceFormula)(index);
    if (price !== null) return { value: null, price: toAmount(price), isDynamic: true };
    if (entry.price !== null) return { value: null, price: entry.price, isDynamic: false };
  }
  const given = values(index);
  return { value: given, price: null, isDynamic: given !== null };
}

type LineDiscountContext = Pick<ItemDiscountContext, "mode" | "effect" | "multiplier"> &
  Pick<LineFormulaValue, "price">;

function lineDiscount(
  discount: MoneyDiscount,
  served: TargetLine,
  { mode, effect, multiplier, price }: LineDiscountContext,
): bigint {
  const { line, selected: pick } = served;
  switch (discount.type) {
    case "PERCENT": {
      const base = mode === "INITIAL_AMOUNT" ? line.amount : line.amount - line.discountAmount;
      const { amountLimit } = discount;
      const percent = multipliedPercent(discount.percentOff, multiplier);
      return smallestOf(
        percentOfSelectedShare(base, percent, served),
        amountLimit === null ? null : amountLimit * multiplier,
      );
    }
    case "AMOUNT":
      return effect === "APPLY_TO_ITEMS_BY_QUANTITY"
        ? smallestOf(discount.amountOff, line.price) * pick.units
        : discount.amountOff * multiplier;
    case "FIXED": {
      const fixed = (price ?? discount.fixedAmount) * pick.units;
      return atLeastZero(selectedShare(line.amount - line.discountAmount, served) - fixed);
    }
    default:
      return discount satisfies never;
  }
}

const multipliedPercent = (percent: Decimal, multiplier: bigint): Decimal =>
  multiplier === 1n
    ? percent
    : percentIn(multiplyDecimals(percent, { unscaled: multiplier, scale: 0 }) ?? HUNDRED_PERCENT);

/** A product that is too large to be told is more than everything. */
const HUNDRED_PERCENT: Decimal = { unscaled: 100n, scale: 0 };

/** A limit on all that a discount takes off. An amount also accepts it under the other name. */
const totalLimit = (discount: MoneyDiscount): bigint | null => {
  const { type, amountLimit, aggregatedAmountLimit } = discount;
  if (type !== "AMOUNT" || amountLimit === null) return aggregatedAmountLimit;
  return smallestOf(amountLimit, aggregatedAmountLimit);
};
