import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { inUse, notFound } from "@scrip/errors";
import type { ProductCollectionService } from "@scrip/proto/scrip/validation/v1/collections_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { rejectReferenced } from "../loading/references.ts";
import { deleteCollection } from "../store/collections.ts";
import { findRulesReferencing } from "../store/validation-rules.ts";

export const deleteProductCollection =
  (deps: Deps): Handler<typeof ProductCollectionService.method.deleteProductCollection> =>
  async ({ productCollectionId: id }, call) => {
    const { project } = call;
    const rules = await findRulesReferencing(deps.db, project.id, id);
    if (rules.total > 0n) {
      throw inUse("products_collection", id, { type: "validation_rule", ...rules });
    }
    await rejectReferenced(deps, call, { type: "products_collection", id });
    const outcome = await deps.definitions.write(project.id, (tx) =>
      deleteCollection(tx, project.id, id),
    );
    if (outcome === "not_found") throw notFound("products_collection", id);
    return create(EmptySchema);
  };
