import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import type { ProductService } from "@scrip/proto/scrip/validation/v1/products_pb";
import type { Handler } from "@scrip/rpc";

import { requireEntry } from "../catalogue/catalogue-entries.ts";
import type { Deps } from "../deps.ts";
import { requireSkuOfProduct } from "../mapping/sku.ts";
import { deleteEntry } from "../store/catalogue.ts";

export const deleteSku =
  (deps: Deps): Handler<typeof ProductService.method.deleteSku> =>
  async (request, { project }) => {
    const projectId = project.id;
    const product = await requireEntry(deps.db, "product", { projectId, name: request.productId });
    const sku = await requireEntry(deps.db, "sku", { projectId, name: request.skuId });
    requireSkuOfProduct(sku, product);
    await deleteEntry(deps.db, "sku", { projectId, id: sku.id });
    return create(EmptySchema);
  };
