import type { ProductService } from "@scrip/proto/scrip/validation/v1/products_pb";
import type { Handler } from "@scrip/rpc";

import { upsertEntry, requireEntry } from "../catalogue/catalogue-entries.ts";
import type { Deps } from "../deps.ts";
import { productToProto, productToRow } from "../mapping/product.ts";
import { findSkusOf } from "../store/catalogue.ts";

export const updateProduct =
  (deps: Deps): Handler<typeof ProductService.method.updateProduct> =>
  async (request, { project, now }) => {
    const projectId = project.id;
    const { id } = await requireEntry(deps.db, "product", { projectId, name: request.productId });
    const product = await upsertEntry(deps, "product", {
      projectId,
      key: { column: "id", value: id },
      change: (stored) => productToRow(request, stored, { newId: () => id, now }),
    });
    const skus = await findSkusOf(deps.db, projectId, [id]);
    return productToProto(product, skus.get(id));
  };
