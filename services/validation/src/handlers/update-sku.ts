import type { ProductService } from "@scrip/proto/scrip/validation/v1/products_pb";
import type { Handler } from "@scrip/rpc";

import { upsertEntry, requireEntry } from "../catalogue/catalogue-entries.ts";
import type { Deps } from "../deps.ts";
import { skuToProto, skuToRow } from "../mapping/sku.ts";

export const updateSku =
  (deps: Deps): Handler<typeof ProductService.method.updateSku> =>
  async (request, { project, now }) => {
    const projectId = project.id;
    const product = await requireEntry(deps.db, "product", { projectId, name: request.productId });
    const { id } = await requireEntry(deps.db, "sku", { projectId, name: request.skuId });
    const sku = await upsertEntry(deps, "sku", {
      projectId,
      key: { column: "id", value: id },
      change: (stored) => skuToRow(request, stored, { product, newId: () => id, now }),
    });
    return skuToProto(sku, product);
  };
