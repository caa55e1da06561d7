import type { OrderService } from "@scrip/proto/scrip/validation/v1/orders_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { requireOrder } from "../order/require-order.ts";

export const getOrder =
  (deps: Deps): Handler<typeof OrderService.method.getOrder> =>
  (request, call) =>
    requireOrder(deps.db, call.project.id, request.orderId);
