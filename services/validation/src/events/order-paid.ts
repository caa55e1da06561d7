import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Order } from "@scrip/proto/scrip/common/v1/order_pb";
import { OrderPaidSchema } from "@scrip/proto/scrip/events/v1/orders_pb";

export const ORDERS_TOPIC = "scrip.orders.v1";
export const ORDER_PAID: string = OrderPaidSchema.typeName;

/** Payload of the event that an order is paid. */
export function orderPaid(projectId: string, order: Order, at: Date): Buffer {
  const event = create(OrderPaidSchema, { projectId, order, date: timestampFromDate(at) });
  return Buffer.from(toBinary(OrderPaidSchema, event));
}

/** Events of one customer keep their order; an order without a customer is keyed by its own id. */
export const orderPaidKey = (order: Order): string => order.customerId ?? order.id ?? "";
