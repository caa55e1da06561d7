import { parsePage } from "@scrip/postgres";
import type { OrderService } from "@scrip/proto/scrip/validation/v1/orders_pb";
import { type Handler, mapInterleaved } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { createdRangeFromProto } from "../mapping/created-range.ts";
import { listOrders as list, unpackOrder } from "../store/orders.ts";

export const listOrders =
  (deps: Deps): Handler<typeof OrderService.method.listOrders> =>
  async (request, call) => {
    const { documents, total } = await list(deps.db, {
      projectId: call.project.id,
      created: createdRangeFromProto(request),
      order: request.order ?? "created_at",
      ...parsePage(request),
    });
    // An order with 500 lines takes some milliseconds.
    const orders = await mapInterleaved(documents, unpackOrder, call);
    return { $typeName: "scrip.validation.v1.ListOrdersResponse", orders, total };
  };
