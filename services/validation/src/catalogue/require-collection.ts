import { notFound } from "@scrip/errors";

import type { Deps } from "../deps.ts";
import { type CollectionRow, findCollection } from "../store/collections.ts";

export async function requireCollection(
  deps: Pick<Deps, "db">,
  projectId: string,
  id: string,
): Promise<CollectionRow> {
  const collection = await findCollection(deps.db, projectId, id);
  if (collection === undefined) throw notFound("products_collection", id);
  return collection;
}
