import { ApiError } from "@scrip/errors";
import type { ImportService } from "@scrip/proto/scrip/export/v1/imports_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { ORDERS_PER_BATCH } from "../imports/kinds/orders.ts";
import { startItems } from "../imports/start-import.ts";
import { isActionUnfinished } from "../store/async-actions.ts";

const TYPE = "ORDERS.IMPORT";

export const importOrders =
  (deps: Deps): Handler<typeof ImportService.method.importOrders> =>
  async ({ orders }, call) => {
    await deps.catalogueImports.checkOrders({ items: orders }, { ...call, idempotency: undefined });
    if (await isActionUnfinished(deps.db, call.project.id, TYPE)) {
      throw new ApiError("resource_in_use", { details: "An import of orders is running" });
    }
    return startItems(deps, call, {
      type: TYPE,
      kind: deps.importKinds.orders,
      items: orders,
      perBatch: ORDERS_PER_BATCH,
    });
  };
