import type { ProductService } from "@scrip/proto/scrip/validation/v1/products_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { editEntry, keyOf, requireEntry } from "./edit-entry.ts";
import { changedSku } from "./edit-sku.ts";
import { toSku } from "./product-message.ts";

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
