import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { UnreadableDefinition } from "@scrip/postgres";
import {
  type ProductCollection as ProductCollectionMessage,
  ProductCollectionSchema,
} from "@scrip/proto/scrip/validation/v1/collections_pb";

import {
  type ProductCollection,
  parseCollectionFilter,
} from "../domain/catalogue/product-collections.ts";
import type { CollectionRow } from "../store/collections.ts";

export const collectionToProto = (row: CollectionRow): ProductCollectionMessage =>
  create(ProductCollectionSchema, {
    id: row.id,
    name: row.name,
    type: row.type,
    products: row.entries.map(({ id, object, product_id: productId }) => ({
      id,
      object,
      ...(productId !== null && { productId }),
    })),
    createdAt: timestampFromDate(row.created_at),
    ...(row.filter !== null && { filter: row.filter }),
  });

export function collectionFromRow({
  id,
  type,
  filter,
  entries,
}: CollectionRow): ProductCollection | UnreadableDefinition {
  if (type === "STATIC") return { id, type, itemIds: new Set(entries.map((entry) => entry.id)) };
  const read = parseCollectionFilter(filter);
  if (read.kind === "violation") {
    return new UnreadableDefinition(`collection ${id} has an invalid filter: ${read.text}`);
  }
  return { id, type, matches: read.matches, usesSkus: read.usesSkus };
}
