import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { OutboxEvent } from "@scrip/events";
import { type Order, OrderStatus } from "@scrip/proto/scrip/common/v1/order_pb";
import { OrderEditedSchema } from "@scrip/proto/scrip/events/v1/orders_pb";

import { ORDERS_TOPIC, orderPaidKey } from "./order-paid.ts";

/** An order before and after an edit. */
type Edit = { readonly before: Order | null; readonly order: Order };

/** Whether an edit changes what the summary of a customer counts. */
export const changesSummary = ({ before, order }: Edit): boolean =>
  countedAs(before) !== countedAs(order);

/** Identifies the customer and the amount that an order is counted with; undefined if it is not counted. */
function countedAs(order: Order | null): string | undefined {
  if (order?.customerId === undefined) return undefined;
  const isCounted = order.status === OrderStatus.PAID || order.status === OrderStatus.FULFILLED;
  return isCounted ? `${order.customerId} ${order.amount ?? 0n}` : undefined;
}

/** Whether an edit cancels the order. */
export const isCancellation = ({ before, order }: Edit): boolean =>
  order.status === OrderStatus.CANCELED && before?.status !== OrderStatus.CANCELED;

/** The event of an edit. */
export function orderEdited(
  id: string,
  {
    projectId,
    order,
    at,
    cancelsPaidOrder,
  }: {
    readonly projectId: string;
    readonly order: Order;
    readonly at: number;
    readonly cancelsPaidOrder: boolean;
  },
): OutboxEvent {
  const date = timestampFromMs(at);
  const event = create(OrderEditedSchema, { projectId, order, date, cancelsPaidOrder });
  const payload = toBinary(OrderEditedSchema, event);
  const key = orderPaidKey(order);
  return { projectId, id, topic: ORDERS_TOPIC, type: OrderEditedSchema.typeName, key, payload };
}
