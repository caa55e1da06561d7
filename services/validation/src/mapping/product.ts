import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type Product,
  ProductSchema,
  type Sku,
  SkuSchema,
} from "@scrip/proto/scrip/validation/v1/products_pb";

import type { ProductRow, SkuRow, SkusOfProduct } from "../store/catalogue.ts";

export const productToProto = (product: ProductRow, skus: SkusOfProduct | undefined): Product =>
  create(ProductSchema, {
    ...summaryOf(product),
    attributes: [...product.attributes],
    metadata: product.metadata,
    skus: {
      data: (skus?.rows ?? []).map((sku) => skuToProto(sku, product)),
      total: skus?.total ?? 0n,
    },
    createdAt: timestampFromDate(product.created_at),
    ...(product.image_url !== null && { imageUrl: product.image_url }),
    ...(product.updated_at !== null && { updatedAt: timestampFromDate(product.updated_at) }),
  });

/** A SKU without a price of its own costs what its product does. */
export function skuToProto(sku: SkuRow, product: ProductRow): Sku {
  const price = sku.price ?? product.price;
  return create(SkuSchema, {
    id: sku.id,
    productId: sku.product_id,
    attributes: sku.attributes,
    metadata: sku.metadata,
    product: summaryOf(product),
    createdAt: timestampFromDate(sku.created_at),
    ...(price !== null && { price }),
    ...(sku.source_id !== null && { sourceId: sku.source_id }),
    ...(sku.sku !== null && { sku: sku.sku }),
    ...(sku.currency !== null && { currency: sku.currency }),
    ...(sku.image_url !== null && { imageUrl: sku.image_url }),
    ...(sku.updated_at !== null && { updatedAt: timestampFromDate(sku.updated_at) }),
  });
}

const summaryOf = ({ id, source_id: sourceId, name, price }: ProductRow) => ({
  id,
  ...(sourceId !== null && { sourceId }),
  ...(name !== null && { name }),
  ...(price !== null && { price }),
});
