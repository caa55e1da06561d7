import type {
  CreateOrderRequest,
  UpdateOrderRequest,
} from "@scrip/proto/scrip/validation/v1/orders_pb";
import type { Call, Implementation } from "@scrip/rpc";

import { orderKey } from "../mapping/order.ts";
import type { OrderKey } from "../store/orders.ts";
import { enterQueue } from "./order-claim.ts";
import type { OrderQueue } from "./order-queue.ts";

/**
 * Edits of an order wait for their turn before their handlers run: the transaction of an idempotency key
 * begins with the handler, so that a waiting edit holds no connection.
 */
export const queuedEdits = (queue: OrderQueue, implementation: Implementation): Implementation => {
  const { createOrder, updateOrder } = implementation.handlers;
  if (createOrder === undefined || updateOrder === undefined) throw new Error("no edits of orders");
  return {
    ...implementation,
    handlers: {
      ...implementation.handlers,
      createOrder: (request: CreateOrderRequest, call: Call) =>
        inQueue(queue, call, orderKey(request), () => createOrder(request as never, call)),
      updateOrder: (request: UpdateOrderRequest, call: Call) =>
        inQueue(queue, call, keyOf(request), () => updateOrder(request as never, call)),
    },
  };
};

const keyOf = ({ orderId }: UpdateOrderRequest): OrderKey => ({
  column: orderId.startsWith("ord_") ? "id" : "source_id",
  value: orderId,
});

async function inQueue<Result>(
  queue: OrderQueue,
  call: Call,
  key: OrderKey | undefined,
  edit: () => Promise<Result>,
): Promise<Result> {
  if (key === undefined) return edit();
  // Another request under the same key is not a repetition: it is rejected after its turn.
  const hash = call.idempotency && Buffer.from(call.idempotency.requestHash).toString("base64");
  const leave = await enterQueue(queue, call, key, hash && `${call.idempotency?.key} ${hash}`);
  try {
    return await edit();
  } finally {
    leave();
  }
}
