import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { notFound, ApiError } from "@scrip/errors";
import {
  type Sku,
  SkuSchema,
  type CreateSkuRequest,
  type UpdateSkuRequest,
} from "@scrip/proto/scrip/validation/v1/products_pb";

import type { ProductRow, SkuRow } from "../store/catalogue.ts";

/** A SKU without a price has the price of its product. */
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

/**
 * Applies a create or update request to the stored SKU: `null` clears a field, metadata is merged
 * by key.
 */
export function skuToRow(
  request: CreateSkuRequest | UpdateSkuRequest,
  stored: SkuRow | undefined,
  { product, newId, now }: Context,
): SkuRow {
  if (stored !== undefined) requireSkuOfProduct(stored, product);
  const sent = new Set(request.updateMask?.paths);
  const at = new Date(now);
  const row: SkuRow = {
    id: stored?.id ?? newId(),
    source_id: request.sourceId ?? stored?.source_id ?? null,
    product_id: product.id,
    sku: request.sku ?? (sent.has("sku") ? null : (stored?.sku ?? null)),
    price: request.price ?? (sent.has("price") ? null : (stored?.price ?? null)),
    currency: request.currency ?? (sent.has("currency") ? null : (stored?.currency ?? null)),
    attributes: request.attributes ?? (sent.has("attributes") ? {} : (stored?.attributes ?? {})),
    image_url: request.imageUrl ?? (sent.has("image_url") ? null : (stored?.image_url ?? null)),
    metadata: { ...stored?.metadata, ...request.metadata },
    created_at: stored?.created_at ?? at,
    updated_at: stored === undefined ? null : at,
  };
  if (request.attributes !== undefined) requireAttributes(row, product);
  return row;
}

/** A SKU exists only under its own product. */
export function requireSkuOfProduct(sku: SkuRow, product: ProductRow): void {
  if (sku.product_id !== product.id) throw notFound("sku", sku.source_id ?? sku.id);
}

function requireAttributes({ attributes }: SkuRow, product: ProductRow): void {
  const unknown = Object.keys(attributes).find((name) => !product.attributes.includes(name));
  if (unknown === undefined) return;
  throw new ApiError("invalid_sku", {
    details: `Property .attributes.${unknown} is not an attribute of the product`,
  });
}

type Context = {
  readonly product: ProductRow;
  readonly newId: () => string;
  readonly now: number;
};

export const summaryOf = ({ id, source_id: sourceId, name, price }: ProductRow) => ({
  id,
  ...(sourceId !== null && { sourceId }),
  ...(name !== null && { name }),
  ...(price !== null && { price }),
});
