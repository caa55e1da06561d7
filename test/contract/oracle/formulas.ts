import { type Fraction, divided, fraction, isLess, times } from "./fractions.ts";
import type { OracleOrder } from "./order.ts";

/** The formulas that vectors use, each worked out by hand: the oracle has no parser to agree with. */
const FORMULAS: Readonly<Record<string, (order: OracleOrder) => Fraction | null>> = {
  "IF(ORDER_AMOUNT > 300; 15; 5)": (order) =>
    isLess(fraction("300"), amountOf(order)) ? fraction("15") : fraction("5"),
  "ORDER_AMOUNT / 10": (order) => divided(amountOf(order), fraction("10")),
  "ORDER_AMOUNT / 3": (order) => divided(amountOf(order), fraction("3")),
  "ORDER_UNITS_QUANTITY * 0.5": (order) => times({ n: unitsIn(order), d: 1n }, fraction("0.5")),
  ORDER_ITEMS_QUANTITY: (order) => ({ n: BigInt(order.lines.length), d: 1n }),
  // Nobody is asked for a customer here, so the static value counts.
  'CUSTOMER_METADATA("age")': () => null,
  "10 / 0": () => null,
};

export function formulaValue(text: string | undefined, order: OracleOrder): Fraction | null {
  if (text === undefined) return null;
  const known = FORMULAS[text];
  if (known === undefined) throw new Error(`the oracle does not know ${text}`);
  return known(order);
}

const amountOf = (order: OracleOrder): Fraction => ({ n: order.amount, d: 100n });

const unitsIn = (order: OracleOrder): bigint =>
  order.lines.reduce((sum, { quantity }) => sum + quantity, 0n);
