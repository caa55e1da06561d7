import type { OrderService } from "@scrip/proto/scrip/validation/v1/orders_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { editOrder } from "../order/edit-order.ts";
import { requireOrder } from "../order/require-order.ts";

export const updateOrder =
  (deps: Deps): Handler<typeof OrderService.method.updateOrder> =>
  async (request, call) => {
    const { id = "" } = await requireOrder(deps.db, call.project.id, request.orderId);
    return editOrder(deps, call, { orderKey: { id }, request });
  };
