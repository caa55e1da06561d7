import type { ProductService } from "@scrip/proto/scrip/validation/v1/products_pb";
import type { Handler } from "@scrip/rpc";

import { requireEntry } from "../catalogue/catalogue-entries.ts";
import type { Deps } from "../deps.ts";
import { productToProto } from "../mapping/product.ts";
import { findSkusOf } from "../store/catalogue.ts";

export const getProduct =
  (deps: Deps): Handler<typeof ProductService.method.getProduct> =>
  async (request, { project }) => {
    const product = await requireEntry(deps.db, "product", {
      projectId: project.id,
      name: request.productId,
    });
    const skus = await findSkusOf(deps.db, project.id, [product.id]);
    return productToProto(product, skus.get(product.id));
  };
