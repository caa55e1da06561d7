import type { OrderItem, OrderItemInput } from "@scrip/proto/scrip/common/v1/order_pb";

import type { LineSnapshot } from "../domain/input/order.ts";
import { lineFromInput } from "../mapping/order-input.ts";

/** The item of the stored order that each sent item names by its id; each at most once. */
export function keptItems(
  sent: readonly OrderItemInput[],
  stored: readonly OrderItem[],
): readonly (OrderItem | undefined)[] {
  const left = new Map(stored.map((item) => [item.id, item]));
  return sent.map(({ id }) => {
    if (id === undefined) return undefined;
    const item = left.get(id);
    left.delete(id);
    return item;
  });
}

/** A sent item; one that is worth what it was also stays what it was before discounts. */
export function sentLine(item: OrderItemInput, kept: OrderItem | undefined): LineSnapshot {
  const line = { ...lineFromInput(item), discountAmount: item.discountAmount ?? 0n };
  if (kept === undefined || item.quantity !== kept.quantity || item.price !== kept.price) {
    return line;
  }
  if (item.price === undefined && item.amount !== kept.amount) return line;
  const { amount, initialAmount, initialQuantity, discountQuantity } = kept;
  return { ...line, amount, initialAmount, initialQuantity, discountQuantity };
}

/** The item with the id of the item that it changes; a new item gets one later. */
export const withId = (item: OrderItem, id: string | undefined): OrderItem =>
  id === undefined ? item : { ...item, id };
