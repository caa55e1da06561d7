import type { OrderItem, OrderItemInput } from "@scrip/proto/scrip/common/v1/order_pb";

/** The item of the stored order that each sent item names by its id; each at most once. */
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

/** Whether a sent item is worth what the stored one is, so that what redemptions changed still applies. */
export const isUnchanged = (item: OrderItemInput, stored: OrderItem): boolean =>
  item.quantity === stored.quantity &&
  item.price === stored.price &&
  (item.price !== undefined || item.amount === stored.amount);
