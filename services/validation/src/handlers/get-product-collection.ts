import { notFound } from "@scrip/errors";
import type { ProductCollectionService } from "@scrip/proto/scrip/validation/v1/collections_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { collectionToProto } from "../mapping/collection.ts";
import { type CollectionRow, findCollection } from "../store/collections.ts";

export const getProductCollection =
  (deps: Deps): Handler<typeof ProductCollectionService.method.getProductCollection> =>
  async ({ productCollectionId }, { project }) =>
    collectionToProto(await requireCollection(deps, project.id, productCollectionId));

export async function requireCollection(
  deps: Pick<Deps, "db">,
  projectId: string,
  id: string,
): Promise<CollectionRow> {
  const collection = await findCollection(deps.db, projectId, id);
  if (collection === undefined) throw notFound("products_collection", id);
  return collection;
}
