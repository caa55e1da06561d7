import type { ProductService } from "@scrip/proto/scrip/validation/v1/products_pb";
import type { Handler } from "@scrip/rpc";

import { upsertEntry, entryKeyOf } from "../catalogue/catalogue-entries.ts";
import type { Deps } from "../deps.ts";
import { productToProto, productToRow } from "../mapping/product.ts";
import { findSkusOf } from "../store/catalogue.ts";

export const createProduct =
  (deps: Deps): Handler<typeof ProductService.method.createProduct> =>
  async (request, { project, now }) => {
    const product = await upsertEntry(deps, "product", {
      projectId: project.id,
      key: entryKeyOf(request),
      change: (stored) => productToRow(request, stored, { newId: () => deps.newId("prod"), now }),
    });
    const skus = await findSkusOf(deps.db, project.id, [product.id]);
    return productToProto(product, skus.get(product.id));
  };
