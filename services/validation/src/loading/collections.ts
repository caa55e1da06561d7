import {
  createDefinitionCache,
  type DefinitionCache,
  type DefinitionVersions,
  type Queryable,
  UnreadableDefinition,
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
import { findCollectionIds, findCollections } from "../store/collections.ts";

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

/**
 * For each line the ids of all collections that contain it: earning rules of loyalty measure the items of an order by
 * them.
 */
export async function loadAllCollectionsOfLines(
  deps: Pick<Deps, "collectionIds" | "collections" | "db" | "onError">,
  call: Call,
  lines: readonly CatalogueLine[],
): Promise<readonly (readonly string[])[]> {
  const ids = await loadCollectionIds(deps, call);
  if (ids.length === 0 || lines.length === 0) return [];
  return loadCollectionsOfLines(deps, call, { lines, ids });
}

/** Ids of all collections of the project; those that cannot be read are logged and left out. */
export async function loadCollectionIds(
  { collectionIds, collections, onError }: Pick<Deps, "collectionIds" | "collections" | "onError">,
  { project }: Pick<Call, "project">,
): Promise<readonly string[]> {
  const ids = (await collectionIds.get(project.id, "")) ?? [];
  try {
    await collections.getMany(project.id, ids);
    return ids;
  } catch (error) {
    if (!(error instanceof UnreadableDefinition)) throw error;
  }
  const isReadable = async (id: string): Promise<boolean> => {
    try {
      await collections.get(project.id, id);
      return true;
    } catch (error) {
      if (!(error instanceof UnreadableDefinition)) throw error;
      onError(error);
      return false;
    }
  };
  const readable = await Promise.all(ids.map(isReadable));
  return ids.filter((_, index) => readable[index]);
}

async function withSkuIds(
  deps: Pick<Deps, "db">,
  call: Call,
  lines: readonly CatalogueLine[],
): Promise<readonly CatalogueLine[]> {
  const ids = lines.flatMap((line) => storedId(line) ?? []);
  const found = await findSkuIdsOf(deps.db, call.project.id, [...new Set(ids)]);
  return lines.map((line) => {
    const skuIds = found.get(storedId(line) ?? "");
    return line.product === null || skuIds === undefined
      ? line
      : { ...line, product: { ...line.product, skuIds } };
  });
}

const storedId = ({ product }: CatalogueLine): string | null =>
  product?.isStored === true ? product.id : null;

const MAX_PROJECTS = 10_000;

/** The ids of the collections of each project, under the key "". */
const createCollectionIdsCache = (
  db: Queryable,
  versions: DefinitionVersions,
): DefinitionCache<readonly string[]> =>
  createDefinitionCache<readonly string[]>({
    versions,
    maxEntries: MAX_PROJECTS,
    load: (keys) =>
      findCollectionIds(
        db,
        keys.map(({ projectId }) => projectId),
      ),
  });

/** A project has at most 100. */
const MAX_COLLECTIONS = 20_000;

function createCollectionsCache(
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

export const createCollectionCaches = (
  db: Queryable,
  versions: DefinitionVersions,
): Pick<Deps, "collectionIds" | "collections"> => ({
  collectionIds: createCollectionIdsCache(db, versions),
  collections: createCollectionsCache(db, versions),
});
