import { instantToProto } from "@scrip/mapping";
import { type Order, OrderStatus } from "@scrip/proto/scrip/common/v1/order_pb";

export type StoredOrderContext = {
  readonly id: string;
  readonly stored: Order | null;
  readonly customerId: string | undefined;
  readonly referrerId: string | undefined;
  readonly now: number;
  /**
   * Id of the line at this position; all orders of one stacked redemption share the ids of their
   * lines.
   */
  readonly newItemId: (position: number) => string;
};

/**
 * The order after a redemption: PAID, regardless of the status sent (docs/orders-and-catalogue.md#order-
 * status). The commit adds the entry in `redemptions`, whose id it creates.
 */
export const redeemedOrder = (order: Order, context: StoredOrderContext): Order =>
  storedOrder(order, { ...context, status: OrderStatus.PAID });

/** The order as it is stored, with ids for itself and its lines. */
export function storedOrder(
  order: Order,
  context: StoredOrderContext & { readonly status: OrderStatus },
): Order {
  const { id, stored, status, now, newItemId } = context;
  const customerId = context.customerId ?? stored?.customerId;
  const referrerId = context.referrerId ?? stored?.referrerId;
  return {
    ...order,
    id,
    status,
    createdAt: stored?.createdAt ?? instantToProto(now),
    ...(stored !== null && { updatedAt: instantToProto(now) }),
    items: order.items.map((item, position) =>
      item.id === undefined ? { ...item, id: newItemId(position) } : item,
    ),
    ...(customerId !== undefined && { customerId, customer: reference(customerId) }),
    ...(referrerId !== undefined && { referrerId, referrer: reference(referrerId) }),
  };
}

/** The order whose items are in these collections; an item without any stays as it is. */
export const withItemCollections = (
  order: Order,
  collections: readonly (readonly string[])[],
): Order => ({
  ...order,
  items: order.items.map((item, index) => {
    const ids = collections[index];
    return ids === undefined ? item : { ...item, collectionIds: [...ids] };
  }),
});

const reference = (id: string) => ({
  $typeName: "scrip.common.v1.ObjectReference" as const,
  id,
  object: "customer",
});
