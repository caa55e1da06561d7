import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type ProductCollection,
  ProductCollectionSchema,
} from "@scrip/proto/scrip/validation/v1/collections_pb";

import type { CollectionRow } from "../store/collections.ts";

export const collectionToProto = (row: CollectionRow): ProductCollection =>
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
