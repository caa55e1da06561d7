import { type Fraction, divided, fraction, isLess, times } from "./fractions.ts";
import type { OracleOrder } from "./order.ts";

/** The formulas of the vectors, each calculated by hand: the oracle has no parser. */
const FORMULAS: Readonly<Record<string, (order: OracleOrder) => Fraction | null>> = {
  "IF(ORDER_AMOUNT > 300; 15; 5)": (order) =>
    isLess(fraction("300"), amountOf(order)) ? fraction("15") : fraction("5"),
  "ORDER_AMOUNT / 10": (order) => divided(amountOf(order), fraction("10")),
  "ORDER_AMOUNT / 3": (order) => divided(amountOf(order), fraction("3")),
  "ORDER_UNITS_QUANTITY * 0.5": (order) => times({ n: unitsIn(order), d: 1n }, fraction("0.5")),
  ORDER_ITEMS_QUANTITY: (order) => ({ n: BigInt(order.lines.length), d: 1n }),
  // The vectors have no customer, so the static value applies.
  'CUSTOMER_METADATA("age")': () => null,
  "10 / 0": () => null,
};

export function formulaValue(text: string | undefined, order: OracleOrder): Fraction | null {
  if (text === undefined) return null;
  const known = FORMULAS[text];
  if (known === undefined) throw new Error(`the oracle does not know the formula ${text}`);
  return known(order);
}

const amountOf = (order: OracleOrder): Fraction => ({ n: order.amount, d: 100n });

const unitsIn = (order: OracleOrder): bigint =>
  order.lines.reduce((sum, { quantity }) => sum + quantity, 0n);
