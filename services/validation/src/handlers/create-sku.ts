import { notFound } from "@scrip/errors";
import { isForeignKeyViolation } from "@scrip/postgres";
import type { ProductService } from "@scrip/proto/scrip/validation/v1/products_pb";
import type { Handler } from "@scrip/rpc";

import { upsertEntry, entryKeyOf, requireEntry } from "../catalogue/catalogue-entries.ts";
import type { Deps } from "../deps.ts";
import { skuToProto, skuToRow } from "../mapping/sku.ts";
import { PRODUCT_OF_SKU } from "../store/catalogue.ts";

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
    }).catch((error: unknown) => {
      // Deleted meanwhile.
      if (!isForeignKeyViolation(error, PRODUCT_OF_SKU)) throw error;
      throw notFound("product", request.productId);
    });
    return skuToProto(sku, product);
  };
