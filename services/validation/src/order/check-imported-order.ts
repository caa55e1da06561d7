import { ApiError, invalidPayload } from "@scrip/errors";
import type { OrderItemInput } from "@scrip/proto/scrip/common/v1/order_pb";
import type { CreateOrderRequest } from "@scrip/proto/scrip/validation/v1/orders_pb";

import { requireIdentity } from "../loading/customer.ts";
import { orderKey } from "../mapping/order.ts";
import { updatedOrder } from "./edit-order.ts";

/** Checks what the request alone decides; the rest is found when the order is imported. */
export function checkImportedOrder(order: CreateOrderRequest, path: string): void {
  requireOrderKey(order, path);
  requireIdentity(order.customer, `${path}.customer`);
  requireIdentity(order.referrer, `${path}.referrer`);
  for (const [index, item] of order.items.entries()) {
    if (!isInitialQuantityValid(item)) {
      throw invalidPayload(
        `Property ${path}.items[${index}].initial_quantity cannot be lower than 1`,
      );
    }
  }
  updatedOrder(order, null, path);
}

/** Items that were read from an order can be sent back: those without units, and those that a discount added, began with 0. */
const isInitialQuantityValid = ({
  initialQuantity = 1n,
  quantity,
  discountQuantity = 0n,
}: OrderItemInput): boolean =>
  initialQuantity >= 1n || (initialQuantity === 0n && (quantity === 0n || discountQuantity > 0n));

/** Imported orders need an id, by which a repetition finds them. */
export function requireOrderKey(order: CreateOrderRequest, path = ""): void {
  if (orderKey(order) !== undefined) return;
  throw new ApiError("missing_param", { details: `Property ${path}.source_id is required` });
}
