import type { ProductService } from "@scrip/proto/scrip/validation/v1/products_pb";
import type { Handler } from "@scrip/rpc";

import { upsertEntry, entryKeyOf, requireEntry } from "../catalogue/catalogue-entries.ts";
import type { Deps } from "../deps.ts";
import { skuToProto, skuToRow } from "../mapping/sku.ts";

export const createSku =
  (deps: Deps): Handler<typeof ProductService.method.createSku> =>
  async (request, { project, now }) => {
    const projectId = project.id;
    const product = await requireEntry(deps.db, "product", { projectId, name: request.productId });
    const sku = await upsertEntry(deps, "sku", {
      projectId,
      key: entryKeyOf(request),
      change: (stored) =>
        skuToRow(request, stored, { product, newId: () => deps.newId("sku"), now }),
    });
    return skuToProto(sku, product);
  };
