import { parsePage } from "@scrip/postgres";
import type { OrderService } from "@scrip/proto/scrip/validation/v1/orders_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { createdRangeFromProto } from "../mapping/created-range.ts";
import { listOrders as list } from "../store/orders.ts";

export const listOrders =
  (deps: Deps): Handler<typeof OrderService.method.listOrders> =>
  async (request, call) => {
    const { orders, total } = await list(deps.db, {
      projectId: call.project.id,
      created: createdRangeFromProto(request),
      order: request.order ?? "created_at",
      ...parsePage(request),
    });
    return { $typeName: "scrip.validation.v1.ListOrdersResponse", orders: [...orders], total };
  };
