import type { OrderItem, OrderItemInput } from "@scrip/proto/scrip/common/v1/order_pb";

/** For each sent item, the stored item with the id that it contains; a stored item is matched once. */
export function matchStoredItems(
  sent: readonly OrderItemInput[],
  stored: readonly OrderItem[],
): readonly (OrderItem | undefined)[] {
  if (sent.every(({ id }) => id === undefined)) return [];
  const left = new Map(stored.map((item) => [item.id, item]));
  return sent.map(({ id }) => {
    if (id === undefined) return undefined;
    const item = left.get(id);
    left.delete(id);
    return item;
  });
}

/**
 * Whether a sent item has the quantity and price of the stored one, so that the discounts and free units of redemptions
 * still apply.
 */
export const isUnchanged = (item: OrderItemInput, stored: OrderItem): boolean =>
  item.quantity === stored.quantity &&
  item.price === stored.price &&
  (item.price !== undefined || item.amount === stored.amount);
