import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type Product,
  ProductSchema,
  type CreateProductRequest,
  type UpdateProductRequest,
} from "@scrip/proto/scrip/validation/v1/products_pb";

import type { ProductRow, SkusOfProduct } from "../store/catalogue.ts";
import { skuToProto, summaryOf } from "./sku.ts";

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

/**
 * Applies a create or update request to the stored product: `null` clears a field, metadata is
 * merged by key.
 */
export function productToRow(
  request: CreateProductRequest | UpdateProductRequest,
  stored: ProductRow | undefined,
  { newId, now }: Context,
): ProductRow {
  const sent = new Set(request.updateMask?.paths);
  const at = new Date(now);
  return {
    id: stored?.id ?? newId(),
    source_id: request.sourceId ?? stored?.source_id ?? null,
    name: request.name ?? (sent.has("name") ? null : (stored?.name ?? null)),
    price: request.price ?? (sent.has("price") ? null : (stored?.price ?? null)),
    attributes:
      request.attributes.length > 0 || sent.has("attributes")
        ? [...new Set(request.attributes)]
        : (stored?.attributes ?? []),
    image_url: request.imageUrl ?? (sent.has("image_url") ? null : (stored?.image_url ?? null)),
    metadata: { ...stored?.metadata, ...request.metadata },
    created_at: stored?.created_at ?? at,
    updated_at: stored === undefined ? null : at,
  };
}

type Context = { readonly newId: () => string; readonly now: number };
