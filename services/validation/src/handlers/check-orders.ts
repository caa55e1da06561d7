import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import type { CatalogueImportService } from "@scrip/proto/scrip/validation/v1/catalogue_imports_pb";
import { type Handler, mapInterleaved } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { checkImportedOrder } from "../order/check-imported-order.ts";

export const checkOrders =
  (_deps: Deps): Handler<typeof CatalogueImportService.method.checkOrders> =>
  async ({ items }, call) => {
    await mapInterleaved(
      [...items.entries()],
      ([index, item]) => checkImportedOrder(item, `[${index}]`),
      call,
    );
    return create(EmptySchema);
  };
