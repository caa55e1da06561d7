import {
  type CreateOrderRequest,
  CreateOrderRequestSchema,
} from "@scrip/proto/scrip/validation/v1/orders_pb";

import type { Clients } from "../../clients.ts";
import type { ImportKind } from "../import-kind.ts";

/** Orders are stored one by one, so a slice has few of them. */
export const ORDERS_PER_BATCH = 50;

export const orders = ({ catalogueImports }: Clients): ImportKind<CreateOrderRequest> => ({
  schema: CreateOrderRequestSchema,
  noun: "order",
  nameOf: ({ sourceId, id }) => ({ source_id: sourceId ?? id ?? null }),
  // The gateway has checked it.
  metadataOf: () => ({ resource: "order", metadata: undefined, isComplete: false }),
  send: async (items, { call }) => {
    const { outcomes } = await catalogueImports.importOrders({ items: [...items] }, call("import"));
    return outcomes;
  },
});
