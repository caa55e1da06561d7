import type { OrderState } from "./order.ts";
import type { StackingRules } from "./stacking-rules.ts";

/**
 * The positions of the lines that an item-level effect reaches, in the order in which they are
 * served. In mode ONCE a line that an earlier redeemable of the request discounted is left out.
 */
export function selectLines(
  state: OrderState,
  start: OrderState,
  productsMode: StackingRules["redeemablesProductsApplicationMode"],
): readonly number[] {
  const all = state.lines.map((_, index) => index);
  if (productsMode === "STACK") return all;
  return all.filter((index) => {
    const before = start.lines[index];
    return before !== undefined && state.lines[index]?.discountAmount === before.discountAmount;
  });
}
