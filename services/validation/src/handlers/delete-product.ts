import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { inUse } from "@scrip/errors";
import { isForeignKeyViolation } from "@scrip/postgres";
import type { ProductService } from "@scrip/proto/scrip/validation/v1/products_pb";
import type { Handler } from "@scrip/rpc";

import { requireEntry } from "../catalogue/catalogue-entries.ts";
import { deleteOrBin } from "../catalogue/delete-entry.ts";
import type { Deps } from "../deps.ts";
import { rejectReferenced } from "../loading/references.ts";
import { findCollectionsOfProduct } from "../store/collections.ts";

export const deleteProduct =
  (deps: Deps): Handler<typeof ProductService.method.deleteProduct> =>
  async ({ productId, force }, call) => {
    const projectId = call.project.id;
    const product = await requireEntry(deps.db, "product", { projectId, name: productId });
    const { id, name, source_id: sourceId } = product;
    const aliases = sourceId === null ? [] : [sourceId];
    await rejectReferenced(deps, call, { type: "product", id, aliases });
    try {
      await deleteOrBin(deps, call, { kind: "product", id, name, force });
    } catch (error) {
      if (!isForeignKeyViolation(error, LISTED)) throw error;
      const ids = await findCollectionsOfProduct(deps.db, projectId, id);
      const total = BigInt(ids.length);
      throw inUse("product", id, { type: "products_collection", ids, total });
    }
    return create(EmptySchema);
  };

/** Foreign key from collection entries to products. */
const LISTED = "product_in_collection";
