import type { ProductCollectionService } from "@scrip/proto/scrip/validation/v1/collections_pb";
import type { Handler } from "@scrip/rpc";

import { requireCollection } from "../catalogue/require-collection.ts";
import type { Deps } from "../deps.ts";
import { collectionToProto } from "../mapping/collection.ts";

export const getProductCollection =
  (deps: Deps): Handler<typeof ProductCollectionService.method.getProductCollection> =>
  async ({ productCollectionId }, { project }) =>
    collectionToProto(await requireCollection(deps, project.id, productCollectionId));
