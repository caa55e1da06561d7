import type { ProductService } from "@scrip/proto/scrip/validation/v1/products_pb";
import type { Handler } from "@scrip/rpc";

import { requireEntry } from "../catalogue/catalogue-entries.ts";
import type { Deps } from "../deps.ts";
import { skuToProto } from "../mapping/sku.ts";

export const getSku =
  (deps: Deps): Handler<typeof ProductService.method.getSku> =>
  async (request, { project }) => {
    const projectId = project.id;
    const sku = await requireEntry(deps.db, "sku", { projectId, name: request.skuId });
    return skuToProto(
      sku,
      await requireEntry(deps.db, "product", { projectId, name: sku.product_id }),
    );
  };
