import { type Decimal, percentIn, toMinorUnits } from "@scrip/money";
import {
  type AmountDiscount,
  type Formula,
  type MoneyDiscount,
  evaluateFormula,
} from "@scrip/rules";

import { atLeastZero, smallestOf } from "../order/minor-units.ts";
import { MAX_AMOUNT } from "../order/order-state.ts";
import { type FormulaSubject, type FormulaContext, formulaScopes } from "./formula-operands.ts";

/** Evaluates a formula for a line, or for the order; null: the static value applies. */
export type FormulaValues = (line: number | null) => Decimal | null;

export type Formulas = (formula: Formula | null) => FormulaValues;

/**
 * Limits of evaluation steps on an order, per formula and for all formulas of one redeemable.
 * docs/formulas.md#errors
 */
const MAX_STEPS = 10_000;
const MAX_TOTAL_STEPS = 100_000;

/**
 * Evaluates formulas on the current order, once unless they read the line. A formula that would
 * exceed the limit of steps on this order returns null for every line.
 * docs/formulas.md#units-and-results
 */
export function formulaEvaluator(subject: FormulaSubject, context: FormulaContext): Formulas {
  const cached = new Map<Formula, FormulaValues>();
  const lines = subject.state.lines.length;
  let scopes: ReturnType<typeof formulaScopes> | null = null;
  let left = MAX_TOTAL_STEPS;
  const evaluateAt = (formula: Formula, line: number | null): Decimal | null => {
    left -= formula.steps;
    if (left < 0) return null;
    scopes ??= formulaScopes(subject, context);
    const result = evaluateFormula(formula, scopes(line));
    return result.kind === "number" ? result.value : null;
  };
  const valuesOf = (formula: Formula): FormulaValues => {
    if (!formula.readsLine) {
      const value = formula.steps > MAX_STEPS ? null : evaluateAt(formula, null);
      return () => value;
    }
    return formula.steps * lines > MAX_STEPS ? NO_VALUES : (line) => evaluateAt(formula, line);
  };
  return (formula) => {
    if (formula === null) return NO_VALUES;
    const values = cached.get(formula) ?? valuesOf(formula);
    cached.set(formula, values);
    return values;
  };
}

const NO_VALUES: FormulaValues = () => null;

/** The discount with the value of its formula in place of the static value. */
export function withFormulaValue(discount: AmountDiscount, value: Decimal | null): AmountDiscount;
export function withFormulaValue(discount: MoneyDiscount, value: Decimal | null): MoneyDiscount;
export function withFormulaValue(discount: MoneyDiscount, value: Decimal | null): MoneyDiscount {
  if (value === null) return discount;
  switch (discount.type) {
    case "PERCENT":
      return { ...discount, percentOff: percentIn(value) };
    case "AMOUNT":
      return { ...discount, amountOff: toAmount(value) };
    case "FIXED":
      return { ...discount, fixedAmount: toAmount(value) };
    default:
      return discount satisfies never;
  }
}

/** Converts major units to an amount: rounded half up, within the bounds of an order's amount. */
export const toAmount = (value: Decimal): bigint =>
  smallestOf(atLeastZero(toMinorUnits(value)), MAX_AMOUNT);

/** The maximum of a static number of units. */
const MAX_UNITS = 1_000_000n;

/** Converts a number to whole units, rounded down. */
export const toUnits = (value: Decimal): bigint =>
  smallestOf(atLeastZero(value.unscaled / 10n ** BigInt(value.scale)), MAX_UNITS);
