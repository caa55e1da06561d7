import { type Decimal, multiplyDecimals, percentIn, percentOf } from "@scrip/money";
import type { MoneyDiscount } from "@scrip/rules";

import type { LinePick } from "../applicable-items/item-selection.ts";
import {
  type FormulaValues,
  type Formulas,
  amountIn,
  withValue,
} from "../formulas/formula-values.ts";
import { atLeastZero, least } from "../order/minor-units.ts";
import { type LineDiscount, discountLines, discountOrder } from "../order/order-draft.ts";
import { type OrderState, totalAmount } from "../order/order-state.ts";
import type { CalculationMode } from "../stacking/stacking-rules.ts";
import { splitAmount } from "./amount-split.ts";
import {
  type Served,
  percentOfShare,
  serveLines,
  servedLines,
  shareOf,
} from "./line-allocation.ts";

export type MoneyTerms = {
  readonly mode: CalculationMode;
  /** What an item-level effect reaches, in the order in which it is served. */
  readonly picks: readonly LinePick[];
  readonly formulas: Formulas;
  /** The number of bundles, where they count; otherwise one. */
  readonly multiplier: bigint;
};

export type AppliedMoney = {
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
export function applyMoney(
  discount: MoneyDiscount,
  state: OrderState,
  terms: MoneyTerms & { readonly effect: MoneyEffect },
): AppliedMoney {
  const values = terms.formulas(discount.formula);
  switch (terms.effect) {
    case "APPLY_TO_ORDER": {
      const given = values(null);
      const amount = orderDiscount(withValue(discount, given), state, terms);
      return { state: discountOrder(state, amount), lines: [], ...told(discount, [given]) };
    }
    case "APPLY_TO_ITEMS":
    case "APPLY_TO_ITEMS_BY_QUANTITY":
      return discountItems(discount, state, { ...terms, values });
    case "APPLY_TO_ITEMS_PROPORTIONALLY":
    case "APPLY_TO_ITEMS_PROPORTIONALLY_BY_QUANTITY": {
      const given = values(null);
      const own = withValue(discount, given);
      if (own.type !== "AMOUNT") throw new Error(`a split of type ${own.type}`);
      const lines = splitAmount(servedLines(state, terms.picks), state, {
        amount: least(own.amountOff * terms.multiplier, sumLimit(own)),
        effect: terms.effect,
        mode: terms.mode,
      });
      return { state: discountLines(state, lines), lines, ...told(discount, [given]) };
    }
    default:
      return terms.effect satisfies never;
  }
}

/** Of formula values, one by one as they were used; null where the static value was. */
function told(
  discount: MoneyDiscount,
  given: readonly (Decimal | null)[],
): Pick<AppliedMoney, "isDynamic" | "value"> {
  const [first = null, ...others] = given;
  return {
    isDynamic: given.some((value) => value !== null),
    value:
      first === null || others.some((value) => value !== first) ? null : withValue(discount, first),
  };
}

function orderDiscount(
  discount: MoneyDiscount,
  state: OrderState,
  { mode, multiplier }: MoneyTerms,
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
      return least(percentOf(base, percentTimes(discount.percentOff, times)), ...limits, total);
    }
    case "AMOUNT":
      return least(discount.amountOff * times, ...limits, total);
    case "FIXED":
      return least(atLeastZero(total - discount.fixedAmount), ...limits, total);
    default:
      return discount satisfies never;
  }
}

type ItemTerms = MoneyTerms & { readonly effect: MoneyEffect; readonly values: FormulaValues };

function discountItems(discount: MoneyDiscount, state: OrderState, terms: ItemTerms): AppliedMoney {
  const served = servedLines(state, terms.picks);
  const worth = new Map(served.map((one) => [one, termsOfLine(discount, one, terms)]));
  const lines = serveLines(served, state, {
    limit: sumLimit(discount),
    valueOf(one) {
      const { given = null, price = null } = worth.get(one) ?? {};
      return lineValue(withValue(discount, given), one, { ...terms, price });
    },
  });
  const known = told(
    discount,
    [...worth.values()].map(({ given }) => given),
  );
  const isDynamic = known.isDynamic || [...worth.values()].some((line) => line.isDynamic);
  return { state: discountLines(state, lines), lines, value: known.value, isDynamic };
}

type TermsOfLine = {
  /** What the formula of the discount gave; null where the static value counts. */
  readonly given: Decimal | null;
  /** Of a unit, when the entry of the line fixes it. */
  readonly price: bigint | null;
  readonly isDynamic: boolean;
};

/** A price of the entry comes before what the discount says of all lines. */
function termsOfLine(
  discount: MoneyDiscount,
  { pick: { index, entry } }: Served,
  { formulas, values }: ItemTerms,
): TermsOfLine {
  if (discount.type === "FIXED" && entry !== null) {
    const price = formulas(entry.priceFormula)(index);
    if (price !== null) return { given: null, price: amountIn(price), isDynamic: true };
    if (entry.price !== null) return { given: null, price: entry.price, isDynamic: false };
  }
  const given = values(index);
  return { given, price: null, isDynamic: given !== null };
}

type LineTerms = Pick<ItemTerms, "mode" | "effect" | "multiplier"> & Pick<TermsOfLine, "price">;

function lineValue(
  discount: MoneyDiscount,
  served: Served,
  { mode, effect, multiplier, price }: LineTerms,
): bigint {
  const { line, pick } = served;
  switch (discount.type) {
    case "PERCENT": {
      const base = mode === "INITIAL_AMOUNT" ? line.amount : line.amount - line.discountAmount;
      const { amountLimit } = discount;
      const percent = percentTimes(discount.percentOff, multiplier);
      return least(
        percentOfShare(base, percent, served),
        amountLimit === null ? null : amountLimit * multiplier,
      );
    }
    case "AMOUNT":
      return effect === "APPLY_TO_ITEMS_BY_QUANTITY"
        ? least(discount.amountOff, line.price) * pick.units
        : discount.amountOff * multiplier;
    case "FIXED": {
      const fixed = (price ?? discount.fixedAmount) * pick.units;
      return atLeastZero(shareOf(line.amount - line.discountAmount, served) - fixed);
    }
    default:
      return discount satisfies never;
  }
}

const percentTimes = (percent: Decimal, multiplier: bigint): Decimal =>
  multiplier === 1n
    ? percent
    : percentIn(multiplyDecimals(percent, { unscaled: multiplier, scale: 0 }) ?? ALL);

/** A product that is too large to be told is more than everything. */
const ALL: Decimal = { unscaled: 100n, scale: 0 };

/** A limit on all that a discount takes off. An amount also accepts it under the other name. */
const sumLimit = (discount: MoneyDiscount): bigint | null => {
  const { type, amountLimit, aggregatedAmountLimit } = discount;
  if (type !== "AMOUNT" || amountLimit === null) return aggregatedAmountLimit;
  return least(amountLimit, aggregatedAmountLimit);
};
