import type { OrderFigures } from "../decision/decision.ts";
import type { LineFacts } from "../input/facts.ts";
import type { Refused } from "../rejections/rejection.ts";
import { checkOrder, lineAmount, orderFigures, startOrder, unitPrice } from "./order-state.ts";

/** What is known of an order that is stored as it is, without anything being redeemed on it. */
export type OrderRecord = {
  /** What the shop says the order is worth, for when its lines do not tell. */
  readonly amount: bigint | null;
  readonly initialAmount: bigint | null;
  readonly discountAmount: bigint;
  readonly lines: readonly LineFacts[];
};

export type RecordOutcome =
  | { readonly kind: "figures"; readonly figures: OrderFigures }
  | { readonly kind: "refused"; readonly refusal: Refused };

/**
 * The figures of a stored order (spec/campaigns-loyalty-platform.md §14): unlike in a decision, the
 * lines decide over what is said beside them. Discounts are cut to what they are taken from, so that
 * no total is negative.
 */
export function recordFigures(record: OrderRecord): RecordOutcome {
  const lines = record.lines.map(pricedLine);
  const told = lines.some((line) => lineAmount(line) !== null);
  const { initialAmount, discountAmount } = record;
  const order = { amount: told ? null : record.amount, initialAmount, discountAmount, lines };
  const refusal = checkOrder(order);
  if (refusal !== null) return { kind: "refused", refusal };
  const state = startOrder(order);
  return { kind: "figures", figures: orderFigures(state, state) };
}

/** Price and quantity decide over an amount that is sent beside them. */
function pricedLine(line: LineFacts): LineFacts {
  return unitPrice(line.prices) !== null && (line.quantity !== null || line.amount === null)
    ? { ...line, amount: null }
    : line;
}
