import type {
  CreateProductRequest,
  UpdateProductRequest,
} from "@scrip/proto/scrip/validation/v1/products_pb";

import type { ProductRow } from "../store/catalogue.ts";

type Context = { readonly newId: () => string; readonly now: number };

/** The product with what was sent over it: `null` clears a field, metadata is merged by key. */
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
