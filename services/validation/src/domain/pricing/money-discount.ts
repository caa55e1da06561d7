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
  /** The lines of an item-level effect, in the order in which they are discounted. */
  readonly selectedLines: readonly SelectedLine[];
  readonly formulas: Formulas;
  /** The number of bundles if the rules multiply by it, otherwise one. */
  readonly multiplier: bigint;
};

export type MoneyDiscountResult = {
  readonly state: OrderState;
  /** True if a formula returned a value, for one line at least. */
  readonly isDynamic: boolean;
  /**
   * The discount with the value of its formula; null if there is none, or if it differs by line.
   */
  readonly value: MoneyDiscount | null;
  /** The discounts of lines, in the order of application. */
  readonly lines: readonly LineDiscount[];
};

export type MoneyEffect = NonNullable<MoneyDiscount["effect"]>;

/** Applies a discount of money to the order or its lines. docs/order-calculation.md#effects */
export function applyMoneyDiscount(
  discount: MoneyDiscount,
  state: OrderState,
  context: MoneyDiscountContext & { readonly effect: MoneyEffect },
): MoneyDiscountResult {
  const values = context.formulas(discount.formula);
  switch (context.effect) {
    case "APPLY_TO_ORDER": {
      const formulaValue = values(null);
      const amount = orderDiscount(withFormulaValue(discount, formulaValue), state, context);
      return {
        state: discountOrder(state, amount),
        lines: [],
        ...formulaOutcome(discount, [formulaValue]),
      };
    }
    case "APPLY_TO_ITEMS":
    case "APPLY_TO_ITEMS_BY_QUANTITY":
      return discountItems(discount, state, { ...context, values });
    case "APPLY_TO_ITEMS_PROPORTIONALLY":
    case "APPLY_TO_ITEMS_PROPORTIONALLY_BY_QUANTITY": {
      const formulaValue = values(null);
      const own = withFormulaValue(discount, formulaValue);
      if (own.type !== "AMOUNT") throw new Error(`a split of type ${own.type}`);
      const lines = splitAmount(targetLines(state, context.selectedLines), state, {
        amount: smallestOf(own.amountOff * context.multiplier, totalLimit(own)),
        effect: context.effect,
        mode: context.mode,
      });
      return {
        state: discountLines(state, lines),
        lines,
        ...formulaOutcome(discount, [formulaValue]),
      };
    }
    default:
      return context.effect satisfies never;
  }
}

/** Summarises the formula's values for all lines; null stands for the static value. */
function formulaOutcome(
  discount: MoneyDiscount,
  formulaValues: readonly (Decimal | null)[],
): Pick<MoneyDiscountResult, "isDynamic" | "value"> {
  const [first = null, ...others] = formulaValues;
  return {
    isDynamic: formulaValues.some((value) => value !== null),
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
  // A fixed amount is the amount left to pay, whatever the number of bundles.
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
      return discount.fixedAmount === null
        ? 0n
        : smallestOf(atLeastZero(total - discount.fixedAmount), ...limits, total);
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
  context: ItemDiscountContext,
): MoneyDiscountResult {
  const targets = targetLines(state, context.selectedLines);
  const lineValues = new Map(targets.map((one) => [one, lineFormulaValue(discount, one, context)]));
  const lines = allocateToLines(targets, state, {
    limit: totalLimit(discount),
    valueOf(one) {
      const { value: formulaValue = null, price = null } = lineValues.get(one) ?? {};
      return lineDiscount(withFormulaValue(discount, formulaValue), one, { ...context, price });
    },
  });
  const summary = formulaOutcome(
    discount,
    [...lineValues.values()].map(({ value: formulaValue }) => formulaValue),
  );
  const isDynamic = summary.isDynamic || [...lineValues.values()].some((line) => line.isDynamic);
  return { state: discountLines(state, lines), lines, value: summary.value, isDynamic };
}

type LineFormulaValue = {
  /** The value of the formula; null if the static value applies. */
  readonly value: Decimal | null;
  /** The unit price fixed by the line's entry. */
  readonly price: bigint | null;
  readonly isDynamic: boolean;
};

/** A price of the entry overrides the fixed amount of the discount. */
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
  const formulaValue = values(index);
  return { value: formulaValue, price: null, isDynamic: formulaValue !== null };
}

type LineDiscountContext = Pick<ItemDiscountContext, "mode" | "effect" | "multiplier"> &
  Pick<LineFormulaValue, "price">;

function lineDiscount(
  discount: MoneyDiscount,
  target: TargetLine,
  { mode, effect, multiplier, price }: LineDiscountContext,
): bigint {
  const { line, selected } = target;
  switch (discount.type) {
    case "PERCENT": {
      const base = mode === "INITIAL_AMOUNT" ? line.amount : line.amount - line.discountAmount;
      const { amountLimit } = discount;
      const percent = multipliedPercent(discount.percentOff, multiplier);
      return smallestOf(
        percentOfSelectedShare(base, percent, target),
        amountLimit === null ? null : amountLimit * multiplier,
      );
    }
    case "AMOUNT":
      return effect === "APPLY_TO_ITEMS_BY_QUANTITY"
        ? smallestOf(discount.amountOff, line.price) * selected.units
        : discount.amountOff * multiplier;
    case "FIXED": {
      const unitPrice = price ?? discount.fixedAmount;
      if (unitPrice === null) return 0n;
      const fixed = unitPrice * selected.units;
      return atLeastZero(selectedShare(line.amount - line.discountAmount, target) - fixed);
    }
    default:
      return discount satisfies never;
  }
}

const multipliedPercent = (percent: Decimal, multiplier: bigint): Decimal =>
  multiplier === 1n
    ? percent
    : percentIn(multiplyDecimals(percent, { unscaled: multiplier, scale: 0 }) ?? HUNDRED_PERCENT);

/** A product that cannot be represented exceeds the whole amount. */
const HUNDRED_PERCENT: Decimal = { unscaled: 100n, scale: 0 };

/** The limit of the discount's sum. A discount of type AMOUNT accepts it as `amount_limit` too. */
const totalLimit = (discount: MoneyDiscount): bigint | null => {
  const { type, amountLimit, aggregatedAmountLimit } = discount;
  if (type !== "AMOUNT" || amountLimit === null) return aggregatedAmountLimit;
  return smallestOf(amountLimit, aggregatedAmountLimit);
};
