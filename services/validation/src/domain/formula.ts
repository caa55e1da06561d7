import { type Decimal, percentIn, toMinorUnits } from "@scrip/money";
import { type AmountDiscount, type Discount, type Formula, evaluateFormula } from "@scrip/rules";

import type { VoucherFacts } from "./facts.ts";
import { type ScopeContext, formulaScopes } from "./formula-scope.ts";
import { atLeastZero, least } from "./minor-units.ts";
import { LARGEST_AMOUNT, type OrderState } from "./order.ts";

/** What the formula of a discount gives for a line, or for the order; null: the static value counts. */
export type FormulaValues = (line: number | null) => Decimal | null;

/** What one discount may cost, whatever its formula and however many lines it reads. */
const MAX_STEPS = 10_000;

/**
 * Evaluates a formula on the order as it stands, once for all lines unless it reads the line. One
 * that would take too long on this order gives nothing for any line.
 */
export function formulaValues(
  formula: Formula | null,
  voucher: VoucherFacts,
  state: OrderState,
  context: ScopeContext,
): FormulaValues {
  if (formula === null) return () => null;
  const lines = formula.readsLine ? state.lines.length : 1;
  if (formula.steps * lines > MAX_STEPS) return () => null;
  const scopeOf = formulaScopes(voucher, state, context);
  const evaluateAt = (line: number | null): Decimal | null => {
    const result = evaluateFormula(formula, scopeOf(line));
    return result.kind === "number" ? result.value : null;
  };
  if (formula.readsLine) return evaluateAt;
  const value = evaluateAt(null);
  return () => value;
}

/** The discount with what its formula gave in place of the static value. */
export function withValue(discount: AmountDiscount, given: Decimal | null): AmountDiscount;
export function withValue(discount: Discount, given: Decimal | null): Discount;
export function withValue(discount: Discount, given: Decimal | null): Discount {
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
const amountIn = (value: Decimal): bigint =>
  least(atLeastZero(toMinorUnits(value)), LARGEST_AMOUNT);
