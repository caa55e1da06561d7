import { type Decimal, allocate, percentOf } from "@scrip/money";
import type { AmountDiscount, Discount, DiscountEffect } from "@scrip/rules";

import { type FormulaValues, withValue } from "./formula.ts";
import { atLeastZero, least, sumOf } from "./minor-units.ts";
import {
  type LineDiscount,
  type LineState,
  type OrderState,
  discountLines,
  discountOrder,
  subtotalAmount,
  totalAmount,
} from "./order.ts";
import type { CalculationMode } from "./stacking-rules.ts";

export type DiscountTerms = {
  readonly mode: CalculationMode;
  /** Positions of the lines an item-level effect reaches, in the order in which they are served. */
  readonly selection: readonly number[];
  readonly formulaValue: FormulaValues;
};

export type AppliedDiscount = {
  readonly state: OrderState;
  readonly effect: DiscountEffect;
  /** True when a formula gave a value, of one line at least. */
  readonly isDynamic: boolean;
  /** The discount with that value, when the formula gave one for all that was discounted. */
  readonly value: Discount | null;
};

/** Takes a discount off the order or its lines; spec/validation-and-redemption.md §1.5 and §1.6. */
export function applyDiscount(
  discount: Discount,
  state: OrderState,
  terms: DiscountTerms,
): AppliedDiscount {
  switch (discount.effect) {
    // Rules that name products will turn the default into APPLY_TO_ITEMS; none are attached yet.
    case null:
    case "APPLY_TO_ORDER": {
      const given = terms.formulaValue(null);
      const amount = orderDiscount(withValue(discount, given), state, terms.mode);
      return {
        effect: "APPLY_TO_ORDER",
        state: discountOrder(state, amount),
        ...told(discount, [given]),
      };
    }
    case "APPLY_TO_ITEMS":
    case "APPLY_TO_ITEMS_BY_QUANTITY": {
      const given = terms.selection.map((index) => terms.formulaValue(index));
      return {
        effect: discount.effect,
        state: discountLines(state, serveLines(discount, state, terms, given)),
        ...told(discount, given),
      };
    }
    case "APPLY_TO_ITEMS_PROPORTIONALLY":
    case "APPLY_TO_ITEMS_PROPORTIONALLY_BY_QUANTITY": {
      const given = terms.formulaValue(null);
      return {
        effect: discount.effect,
        state: discountLines(state, splitAmount(withValue(discount, given), state, terms)),
        ...told(discount, [given]),
      };
    }
    default:
      return discount satisfies never;
  }
}

/** Of formula values, one by one as they were used; null where the static value was. */
function told(
  discount: Discount,
  given: readonly (Decimal | null)[],
): Pick<AppliedDiscount, "isDynamic" | "value"> {
  const [first = null, ...others] = given;
  return {
    isDynamic: given.some((value) => value !== null),
    value:
      first === null || others.some((value) => value !== first) ? null : withValue(discount, first),
  };
}

function orderDiscount(discount: Discount, state: OrderState, mode: CalculationMode): bigint {
  const total = totalAmount(state);
  const { amountLimit, aggregatedAmountLimit } = discount;
  return least(orderValue(discount, state, mode), amountLimit, aggregatedAmountLimit, total);
}

function orderValue(discount: Discount, state: OrderState, mode: CalculationMode): bigint {
  switch (discount.type) {
    case "PERCENT":
      return percentOf(
        mode === "INITIAL_AMOUNT" ? state.amount : totalAmount(state),
        discount.percentOff,
      );
    case "AMOUNT":
      return discount.amountOff;
    case "FIXED":
      return atLeastZero(totalAmount(state) - discount.fixedAmount);
    default:
      return discount satisfies never;
  }
}

/** Serves the lines in turn, so that a limit on the sum favours the earlier ones. */
function serveLines(
  discount: Discount,
  state: OrderState,
  { mode, selection }: DiscountTerms,
  given: readonly (Decimal | null)[],
): LineDiscount[] {
  let left = least(totalAmount(state), sumLimit(discount));
  return selectedLines(state, selection).map(({ index, line }, at) => {
    const own = withValue(discount, given[at] ?? null);
    const amount = least(lineValue(own, line, mode), subtotalAmount(line), left);
    left -= amount;
    return { index, amount };
  });
}

function lineValue(discount: Discount, line: LineState, mode: CalculationMode): bigint {
  switch (discount.type) {
    case "PERCENT": {
      const base = mode === "INITIAL_AMOUNT" ? line.amount : subtotalAmount(line);
      return least(percentOf(base, discount.percentOff), discount.amountLimit);
    }
    case "AMOUNT":
      return discount.effect === "APPLY_TO_ITEMS_BY_QUANTITY"
        ? least(discount.amountOff, line.price) * line.quantity
        : discount.amountOff;
    case "FIXED":
      return atLeastZero(subtotalAmount(line) - discount.fixedAmount * line.quantity);
    default:
      return discount satisfies never;
  }
}

/** A limit on all that a discount takes off. An amount also accepts it under the other name. */
const sumLimit = (discount: Discount): bigint | null =>
  discount.type === "AMOUNT" ? amountSumLimit(discount) : discount.aggregatedAmountLimit;

function amountSumLimit({ amountLimit, aggregatedAmountLimit }: AmountDiscount): bigint | null {
  return amountLimit === null ? aggregatedAmountLimit : least(amountLimit, aggregatedAmountLimit);
}

/** Splits one amount over the lines; the parts add up to it exactly. */
function splitAmount(
  discount: AmountDiscount,
  state: OrderState,
  { mode, selection }: DiscountTerms,
): LineDiscount[] {
  const parts = selectedLines(state, selection)
    .map(({ index, line }) => ({
      index,
      cap: subtotalAmount(line),
      weight: splitWeight(discount, line, mode),
    }))
    .filter((part) => part.cap > 0n && part.weight > 0n);
  const capacity = sumOf(parts, (part) => part.cap);
  const amount = least(discount.amountOff, sumLimit(discount), totalAmount(state), capacity);
  return allocateWithin(amount, parts);
}

function splitWeight(discount: AmountDiscount, line: LineState, mode: CalculationMode): bigint {
  if (discount.effect === "APPLY_TO_ITEMS_PROPORTIONALLY_BY_QUANTITY") return line.quantity;
  return mode === "INITIAL_AMOUNT" ? line.amount : subtotalAmount(line);
}

type Part = { readonly index: number; readonly cap: bigint; readonly weight: bigint };

/**
 * Largest remainder under a cap for each part: a share above its cap is fixed there and the rest is
 * split over the others. The part with the least room for its weight overflows first, so one pass
 * in that order finds all that do; once a share fits, those of all later parts fit too. `amount`
 * must not exceed the sum of the caps.
 */
function allocateWithin(amount: bigint, parts: readonly Part[]): LineDiscount[] {
  const tightestFirst = parts.toSorted((a, b) => Number(a.cap * b.weight - b.cap * a.weight));
  const full = new Set<Part>();
  let left = amount;
  let weight = sumOf(parts, (part) => part.weight);
  for (const part of tightestFirst) {
    if (left * part.weight <= part.cap * weight) break;
    full.add(part);
    left -= part.cap;
    weight -= part.weight;
  }
  const open = parts.filter((part) => !full.has(part));
  const shares = allocate(
    left,
    open.map((part) => part.weight),
  );
  return [
    ...[...full].map(({ index, cap }) => ({ index, amount: cap })),
    ...open.map(({ index }, at) => ({ index, amount: shares[at] ?? 0n })),
  ];
}

function selectedLines(state: OrderState, selection: readonly number[]) {
  return selection.flatMap((index) => {
    const line = state.lines[index];
    return line === undefined ? [] : [{ index, line }];
  });
}
