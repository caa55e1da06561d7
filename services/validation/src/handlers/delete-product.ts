import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { inUse } from "@scrip/errors";
import { isForeignKeyViolation } from "@scrip/postgres";
import type { ProductService } from "@scrip/proto/scrip/validation/v1/products_pb";
import type { Handler } from "@scrip/rpc";

import { requireEntry } from "../catalogue/catalogue-entries.ts";
import type { Deps } from "../deps.ts";
import { deleteEntry } from "../store/catalogue.ts";
import { findCollectionsOfProduct } from "../store/collections.ts";

export const deleteProduct =
  (deps: Deps): Handler<typeof ProductService.method.deleteProduct> =>
  async (request, { project }) => {
    const projectId = project.id;
    const { id } = await requireEntry(deps.db, "product", { projectId, name: request.productId });
    try {
      await deleteEntry(deps.db, "product", { projectId, id });
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
