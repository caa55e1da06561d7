import {
  createDefinitionCache,
  type DefinitionCache,
  type DefinitionVersions,
  type Queryable,
} from "@scrip/postgres";
import { type Call, timeContextOf } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import {
  type CatalogueLine,
  type ProductCollection,
  matchingCollections,
} from "../domain/catalogue/product-collections.ts";
import { collectionFromRow } from "../mapping/collection.ts";
import { findSkuIdsOf } from "../store/catalogue.ts";
import { findCollections } from "../store/collections.ts";

/** Collections by id, from the cache where possible; deleted ones are omitted. */
export async function loadCollections(
  deps: Pick<Deps, "collections">,
  call: Call,
  ids: readonly string[],
): Promise<readonly ProductCollection[]> {
  return [...(await deps.collections.getMany(call.project.id, [...new Set(ids)])).values()];
}

/**
 * For each line the ids of the collections that contain it. Queries the database only for uncached
 * collections and for SKU lists that a filter reads.
 */
export async function loadCollectionsOfLines(
  deps: Pick<Deps, "collections" | "db">,
  call: Call,
  of: { readonly lines: readonly CatalogueLine[]; readonly ids: readonly string[] },
): Promise<readonly (readonly string[])[]> {
  const collections = await loadCollections(deps, call, of.ids);
  const usesSkus = collections.some((each) => each.type === "AUTO_UPDATE" && each.usesSkus);
  const lines = usesSkus ? await withSkuIds(deps, call, of.lines) : of.lines;
  const time = timeContextOf(call);
  return lines.map((line) => matchingCollections(line, collections, time));
}

async function withSkuIds(
  deps: Pick<Deps, "db">,
  call: Call,
  lines: readonly CatalogueLine[],
): Promise<readonly CatalogueLine[]> {
  const ids = lines.flatMap(({ product }) => product?.id ?? []);
  const skuIds = await findSkuIdsOf(deps.db, call.project.id, [...new Set(ids)]);
  return lines.map((line) =>
    line.product === null
      ? line
      : { ...line, product: { ...line.product, skuIds: skuIds.get(line.product.id) ?? [] } },
  );
}

/** A project has at most 100. */
const MAX_COLLECTIONS = 20_000;

export function createCollectionsCache(
  db: Queryable,
  versions: DefinitionVersions,
): DefinitionCache<ProductCollection> {
  return createDefinitionCache<ProductCollection>({
    versions,
    maxEntries: MAX_COLLECTIONS,
    load: async (keys) =>
      (await findCollections(db, keys)).map((row) => row && collectionFromRow(row)),
  });
}
