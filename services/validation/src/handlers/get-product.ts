import type { ProductService } from "@scrip/proto/scrip/validation/v1/products_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { findSkusOf } from "../store/catalogue.ts";
import { requireEntry } from "./edit-entry.ts";
import { toProduct } from "./product-message.ts";

export const getProduct =
  (deps: Deps): Handler<typeof ProductService.method.getProduct> =>
  async (request, { project }) => {
    const product = await requireEntry(deps.db, "product", {
      projectId: project.id,
      name: request.productId,
    });
    const skus = await findSkusOf(deps.db, project.id, [product.id]);
    return toProduct(product, skus.get(product.id));
  };
