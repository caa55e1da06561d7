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

/** What a formula gives for a line, or for the order; null: the static value counts. */
export type FormulaValues = (line: number | null) => Decimal | null;

/** The formulas of one redeemable. */
export type Formulas = (formula: Formula | null) => FormulaValues;

/** What one formula may cost on an order, and what all of one redeemable may together. */
const MAX_STEPS = 10_000;
const MAX_TOTAL_STEPS = 100_000;

/**
 * Evaluates formulas on the order as it stands, each once for all lines unless it reads the line. One
 * that would take too long on this order gives nothing for any line.
 */
export function formulaEvaluator(subject: FormulaSubject, context: FormulaContext): Formulas {
  const known = new Map<Formula, FormulaValues>();
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
    const found = known.get(formula) ?? valuesOf(formula);
    known.set(formula, found);
    return found;
  };
}

const NO_VALUES: FormulaValues = () => null;

/** The discount with what its formula gave in place of the static value. */
export function withFormulaValue(discount: AmountDiscount, given: Decimal | null): AmountDiscount;
export function withFormulaValue(discount: MoneyDiscount, given: Decimal | null): MoneyDiscount;
export function withFormulaValue(discount: MoneyDiscount, given: Decimal | null): MoneyDiscount {
  if (given === null) return discount;
  switch (discount.type) {
    case "PERCENT":
      return { ...discount, percentOff: percentIn(given) };
    case "AMOUNT":
      return { ...discount, amountOff: toAmount(given) };
    case "FIXED":
      return { ...discount, fixedAmount: toAmount(given) };
    default:
      return discount satisfies never;
  }
}

/** Major units as an amount, rounded once and within what an order can be worth. */
export const toAmount = (value: Decimal): bigint =>
  smallestOf(atLeastZero(toMinorUnits(value)), MAX_AMOUNT);

/** As many units as the contract lets anyone give by a number. */
const MAX_UNITS = 1_000_000n;

/** A number of whole units, rounded down. */
export const toUnits = (value: Decimal): bigint =>
  smallestOf(atLeastZero(value.unscaled / 10n ** BigInt(value.scale)), MAX_UNITS);
