import { type Decimal, percentIn, toMinorUnits } from "@scrip/money";
import {
  type AmountDiscount,
  type Formula,
  type MoneyDiscount,
  evaluateFormula,
} from "@scrip/rules";

import { atLeastZero, least } from "../order/minor-units.ts";
import { LARGEST_AMOUNT } from "../order/order-state.ts";
import { type FormulaSubject, type ScopeContext, formulaScopes } from "./formula-operands.ts";

/** What a formula gives for a line, or for the order; null: the static value counts. */
export type FormulaValues = (line: number | null) => Decimal | null;

/** The formulas of one redeemable. */
export type Formulas = (formula: Formula | null) => FormulaValues;

/** What one formula may cost on an order, and what all of one redeemable may together. */
const MAX_STEPS = 10_000;
const MAX_STEPS_OF_ALL = 100_000;

/**
 * Evaluates formulas on the order as it stands, each once for all lines unless it reads the line. One
 * that would take too long on this order gives nothing for any line.
 */
export function formulasOf(subject: FormulaSubject, context: ScopeContext): Formulas {
  const known = new Map<Formula, FormulaValues>();
  const lines = subject.state.lines.length;
  let scopes: ReturnType<typeof formulaScopes> | null = null;
  let left = MAX_STEPS_OF_ALL;
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
    return formula.steps * lines > MAX_STEPS ? NOTHING : (line) => evaluateAt(formula, line);
  };
  return (formula) => {
    if (formula === null) return NOTHING;
    const found = known.get(formula) ?? valuesOf(formula);
    known.set(formula, found);
    return found;
  };
}

const NOTHING: FormulaValues = () => null;

/** The discount with what its formula gave in place of the static value. */
export function withValue(discount: AmountDiscount, given: Decimal | null): AmountDiscount;
export function withValue(discount: MoneyDiscount, given: Decimal | null): MoneyDiscount;
export function withValue(discount: MoneyDiscount, given: Decimal | null): MoneyDiscount {
  if (given === null) return discount;
  switch (discount.type) {
    case "PERCENT":
      return { ...discount, percentOff: percentIn(given) };
    case "AMOUNT":
      return { ...discount, amountOff: amountIn(given) };
    case "FIXED":
      return { ...discount, fixedAmount: amountIn(given) };
    default:
      return discount satisfies never;
  }
}

/** Major units as an amount, rounded once and within what an order can be worth. */
export const amountIn = (value: Decimal): bigint =>
  least(atLeastZero(toMinorUnits(value)), LARGEST_AMOUNT);

/** As many units as the contract lets anyone give by a number. */
const MOST_UNITS = 1_000_000n;

/** A number of whole units, rounded down. */
export const unitsIn = (value: Decimal): bigint =>
  least(atLeastZero(value.unscaled / 10n ** BigInt(value.scale)), MOST_UNITS);
