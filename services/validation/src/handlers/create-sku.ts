import type { ProductService } from "@scrip/proto/scrip/validation/v1/products_pb";
import type { Handler } from "@scrip/rpc";

import { editEntry, keyOf, requireEntry } from "../catalogue/catalogue-entries.ts";
import { changedSku } from "../catalogue/edit-sku.ts";
import type { Deps } from "../deps.ts";
import { toSku } from "../mapping/product.ts";

export const createSku =
  (deps: Deps): Handler<typeof ProductService.method.createSku> =>
  async (request, { project, now }) => {
    const projectId = project.id;
    const product = await requireEntry(deps.db, "product", { projectId, name: request.productId });
    const sku = await editEntry(deps, "sku", {
      projectId,
      key: keyOf(request),
      change: (stored) =>
        changedSku(request, stored, { product, newId: () => deps.newId("sku"), now }),
    });
    return toSku(sku, product);
  };
