import { type Given, type GivenItem, addUnits, carriersOf } from "./added.ts";
import type { Application } from "./decision.ts";
import { atLeastZero, least } from "./minor-units.ts";
import { changeUnits, discountLines, lineAt } from "./order-change.ts";
import { type OrderState, subtotalAmount, totalAmount } from "./order.ts";
import type { LinePick } from "./selection.ts";

export type Replacement = {
  readonly what: GivenItem;
  /** How many units stand in for one. */
  readonly ratio: bigint;
};

/**
 * Exchanges the units that are picked for others; spec/validation-and-redemption.md §1.9. The buyer
 * never pays more than before: what the new units cost above the old ones is taken off.
 */
export function replaceUnits(
  state: OrderState,
  picks: readonly LinePick[],
  { what, ratio }: Replacement,
): Given {
  let after = state;
  const targets = new Set(carriersOf(state, what));
  for (const pick of picks) {
    if (targets.has(pick.index) || ratio === 0n) continue;
    const exchanged = exchange(after, pick, { what, ratio });
    if (exchanged.kind === "refused") return exchanged;
    after = exchanged.state;
  }
  return { kind: "given", state: after };
}

function exchange(state: OrderState, pick: LinePick, { what, ratio }: Replacement): Given {
  const sourcePrice = lineAt(state, pick.index).price;
  const targetPrice = priceOf(state, what);
  // Units of no known price cannot be weighed against each other.
  if (sourcePrice === null || targetPrice === null) return { kind: "given", state };
  const units = replaceable(state, pick, sourcePrice - ratio * targetPrice);
  if (units <= 0n) return { kind: "given", state };

  const addition = addUnits(changeUnits(state, pick.index, -units), what, units * ratio);
  if (addition.kind === "refused") return addition;
  const added = units * ratio * targetPrice;
  const discount = atLeastZero(added - units * sourcePrice);
  const discounted = discountLines(addition.state, [
    { index: addition.index, amount: discount, units: discount > 0n ? units * ratio : 0n },
  ]);
  return {
    kind: "given",
    state: noted(discounted, {
      sourceIndex: pick.index,
      sourceAppliedQuantity: -units,
      sourceAppliedQuantityAmount: -units * sourcePrice,
      targetIndex: addition.index,
      targetAppliedQuantity: units * ratio,
      targetAppliedQuantityAmount: added,
      targetAppliedDiscountAmount: discount,
    }),
  };
}

/** Of the line that carries it already, else of the catalogue. */
function priceOf(state: OrderState, what: GivenItem): bigint | null {
  const [carrier] = carriersOf(state, what);
  return carrier === undefined ? (what.item?.price ?? null) : lineAt(state, carrier).price;
}

/**
 * Only what is still to be paid can be exchanged: neither the line nor the order may be worth less
 * than what was taken off it. `cheaper` is by how much a unit makes the order cheaper.
 */
function replaceable(state: OrderState, pick: LinePick, cheaper: bigint): bigint {
  const line = lineAt(state, pick.index);
  const price = line.price ?? 0n;
  return least(
    pick.units,
    line.quantity,
    price > 0n ? subtotalAmount(line) / price : null,
    cheaper > 0n ? totalAmount(state) / cheaper : null,
  );
}

/** Both lines tell of the exchange. */
function noted(state: OrderState, application: Application): OrderState {
  const { sourceIndex, targetIndex } = application;
  const lines = state.lines.map((line, index) =>
    index === sourceIndex || index === targetIndex
      ? { ...line, applications: [...line.applications, application] }
      : line,
  );
  return { ...state, lines };
}
