import { invalidPayload, notFound } from "@scrip/errors";
import type { Queryable } from "@scrip/postgres";
import type {
  CollectionEntryInput,
  CreateProductCollectionRequest,
  ProductCollectionService,
} from "@scrip/proto/scrip/validation/v1/collections_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { parseCollectionFilter } from "../domain/catalogue/product-collections.ts";
import { collectionToProto } from "../mapping/collection.ts";
import { type Catalogue, findOneInCatalogue } from "../store/catalogue-lookup.ts";
import {
  type CollectionEntry,
  type CollectionRow,
  countCollections,
  insertCollection,
} from "../store/collections.ts";

const MAX_COLLECTIONS = 100n;

export const createProductCollection =
  (deps: Deps): Handler<typeof ProductCollectionService.method.createProductCollection> =>
  async (request, { project, now }) => {
    const base = { id: deps.newId("pc"), name: request.name, created_at: new Date(now) };
    const filter = filterOf(request);
    const row = await deps.definitions.write(project.id, async (tx): Promise<CollectionRow> => {
      if ((await countCollections(tx, project.id)) >= MAX_COLLECTIONS) {
        throw invalidPayload(`A project cannot have more than ${MAX_COLLECTIONS} collections`);
      }
      const collection: CollectionRow =
        filter === null
          ? { ...base, type: "STATIC", filter, entries: await entriesOf(tx, project.id, request) }
          : { ...base, type: "AUTO_UPDATE", filter, entries: [] };
      await insertCollection(tx, project.id, collection);
      return collection;
    });
    return collectionToProto(row);
  };

/** The filter of an AUTO_UPDATE collection; null for a STATIC one. */
function filterOf({ type, filter, products }: CreateProductCollectionRequest) {
  if (type === "STATIC") {
    if (filter !== undefined) throw invalidPayload("A 'STATIC' collection has no .filter");
    return null;
  }
  if (products.length > 0) throw invalidPayload("An 'AUTO_UPDATE' collection has no .products");
  if (filter?.["junction"] === undefined) {
    throw invalidPayload(
      "'AUTO_UPDATE' collection must contain valid filter with 'junction' property",
    );
  }
  const read = parseCollectionFilter(filter);
  if (read.kind === "violation") throw invalidPayload(read.text);
  return filter;
}

/** The listed products and SKUs by id, without duplicates. */
async function entriesOf(
  tx: Queryable,
  projectId: string,
  { products }: CreateProductCollectionRequest,
): Promise<readonly CollectionEntry[]> {
  const namesOf = (object: CollectionEntry["object"]): string[] =>
    products.flatMap((entry) => (entry.object === object ? [entry.id] : []));
  const catalogue = await findOneInCatalogue(tx, {
    projectId,
    skus: namesOf("sku"),
    products: namesOf("product"),
  });
  const entries = products.map((entry) => entryOf(entry, catalogue));
  return [...new Map(entries.map((entry) => [entry.id, entry])).values()];
}

function entryOf(
  { id, object, productId }: CollectionEntryInput,
  catalogue: Catalogue,
): CollectionEntry {
  if (object === "product") {
    const product = catalogue.product(id);
    if (product === undefined) throw notFound("product", id);
    return { object, id: product.id, product_id: null };
  }
  const sku = catalogue.sku(id);
  const product = sku && catalogue.product(sku.product_id);
  const isOther = ![undefined, product?.id, product?.source_id].includes(productId);
  if (sku === undefined || isOther) throw notFound("sku", id);
  return { object: "sku", id: sku.id, product_id: sku.product_id };
}
