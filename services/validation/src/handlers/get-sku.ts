import type { ProductService } from "@scrip/proto/scrip/validation/v1/products_pb";
import type { Handler } from "@scrip/rpc";

import { requireEntry } from "../catalogue/catalogue-entries.ts";
import type { Deps } from "../deps.ts";
import { requireSkuOfProduct, skuToProto } from "../mapping/sku.ts";

export const getSku =
  (deps: Deps): Handler<typeof ProductService.method.getSku> =>
  async ({ skuId, productId }, { project }) => {
    const projectId = project.id;
    const sku = await requireEntry(deps.db, "sku", { projectId, name: skuId });
    const name = productId ?? sku.product_id;
    const product = await requireEntry(deps.db, "product", { projectId, name });
    requireSkuOfProduct(sku, product);
    return skuToProto(sku, product);
  };
