import type { OrderService } from "@scrip/proto/scrip/validation/v1/orders_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { editOrder } from "../order/edit-order.ts";

export const createOrder =
  (deps: Deps): Handler<typeof OrderService.method.createOrder> =>
  (request, call) => {
    const { id, sourceId } = request;
    const orderKey = id === undefined ? { ...(sourceId !== undefined && { sourceId }) } : { id };
    return editOrder(deps, call, { orderKey, request });
  };
