import { toErrorResponse } from "@scrip/errors";
import { itemOutcome, rejectedItem } from "@scrip/mapping";
import { type ItemOutcome, ItemResult } from "@scrip/proto/scrip/common/v1/items_pb";
import type { CatalogueImportService } from "@scrip/proto/scrip/validation/v1/catalogue_imports_pb";
import type { CreateOrderRequest } from "@scrip/proto/scrip/validation/v1/orders_pb";
import type { Call, Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { requireOrderKey } from "../order/check-imported-order.ts";
import { editOrder } from "../order/edit-order.ts";

/** Order by order: each is claimed, so that an import and a redemption of the same order do not interleave. */
export const importOrders =
  (deps: Deps): Handler<typeof CatalogueImportService.method.importOrders> =>
  async ({ items }, call) => {
    const outcomes: ItemOutcome[] = [];
    for (const item of items) outcomes.push(await importOrder(deps, call, item));
    return { $typeName: "scrip.validation.v1.ImportOrdersResponse", outcomes };
  };

async function importOrder(deps: Deps, call: Call, item: CreateOrderRequest): Promise<ItemOutcome> {
  // Its creation is the time of the import.
  const { createdAt: _, ...request } = item;
  const { id, sourceId } = item;
  try {
    requireOrderKey(item);
    const orderKeyOf = id === undefined ? { ...(sourceId !== undefined && { sourceId }) } : { id };
    const order = await editOrder(deps, call, {
      orderKey: orderKeyOf,
      request,
      isImport: true,
    });
    return itemOutcome(order.updatedAt === undefined ? ItemResult.CREATED : ItemResult.UPDATED);
  } catch (error) {
    const { error: rejection, unexpected } = toErrorResponse(error, call.requestId);
    if (unexpected || rejection.code >= 500) throw error;
    return rejectedItem(rejection);
  }
}
