import type { ProductService } from "@scrip/proto/scrip/validation/v1/products_pb";
import type { Handler } from "@scrip/rpc";

import { editEntry, requireEntry } from "../catalogue/catalogue-entries.ts";
import { changedProduct } from "../catalogue/edit-product.ts";
import type { Deps } from "../deps.ts";
import { toProduct } from "../mapping/product.ts";
import { findSkusOf } from "../store/catalogue.ts";

export const updateProduct =
  (deps: Deps): Handler<typeof ProductService.method.updateProduct> =>
  async (request, { project, now }) => {
    const projectId = project.id;
    const { id } = await requireEntry(deps.db, "product", { projectId, name: request.productId });
    const product = await editEntry(deps, "product", {
      projectId,
      key: { column: "id", value: id },
      change: (stored) => changedProduct(request, stored, { newId: () => id, now }),
    });
    const skus = await findSkusOf(deps.db, projectId, [id]);
    return toProduct(product, skus.get(id));
  };
