import type { ProductService } from "@scrip/proto/scrip/validation/v1/products_pb";
import type { Handler } from "@scrip/rpc";

import { editEntry, keyOf } from "../catalogue/catalogue-entries.ts";
import { changedProduct } from "../catalogue/edit-product.ts";
import type { Deps } from "../deps.ts";
import { toProduct } from "../mapping/product.ts";
import { findSkusOf } from "../store/catalogue.ts";

export const createProduct =
  (deps: Deps): Handler<typeof ProductService.method.createProduct> =>
  async (request, { project, now }) => {
    const product = await editEntry(deps, "product", {
      projectId: project.id,
      key: keyOf(request),
      change: (stored) => changedProduct(request, stored, { newId: () => deps.newId("prod"), now }),
    });
    const skus = await findSkusOf(deps.db, project.id, [product.id]);
    return toProduct(product, skus.get(product.id));
  };
