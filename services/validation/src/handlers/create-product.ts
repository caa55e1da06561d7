import type { ProductService } from "@scrip/proto/scrip/validation/v1/products_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { findSkusOf } from "../store/catalogue.ts";
import { editEntry, keyOf } from "./edit-entry.ts";
import { changedProduct } from "./edit-product.ts";
import { toProduct } from "./product-message.ts";

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
