import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import type { ProductService } from "@scrip/proto/scrip/validation/v1/products_pb";
import type { Handler } from "@scrip/rpc";

import { requireEntry } from "../catalogue/catalogue-entries.ts";
import { deleteOrBin } from "../catalogue/delete-entry.ts";
import type { Deps } from "../deps.ts";
import { requireSkuOfProduct } from "../mapping/sku.ts";

export const deleteSku =
  (deps: Deps): Handler<typeof ProductService.method.deleteSku> =>
  async ({ productId, skuId, force }, call) => {
    const projectId = call.project.id;
    const product = await requireEntry(deps.db, "product", { projectId, name: productId });
    const sku = await requireEntry(deps.db, "sku", { projectId, name: skuId });
    requireSkuOfProduct(sku, product);
    const { id, sku: name } = sku;
    await deleteOrBin(deps, call, { kind: "sku", id, name, productId: product.id, force });
    return create(EmptySchema);
  };
