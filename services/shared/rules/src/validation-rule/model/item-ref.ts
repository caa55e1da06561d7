/** A reference to a product, SKU or collection, in conditions, scopes and bundles. */
export type ItemRef = {
  readonly object: ItemObject;
  readonly id: string | null;
  readonly sourceId: string | null;
  /** As it was sent: `product`, `sku`, `product_or_sku`, … */
  readonly type: string | null;
};

export type ItemObject = "product" | "sku" | "products_collection";

/** The identity of an order line, which item references match. */
export type ItemIdentity = {
  readonly productId: string | null;
  readonly skuId: string | null;
  readonly productSourceId: string | null;
  readonly skuSourceId: string | null;
  /** Ids of the collections that hold the product or SKU. */
  readonly collections: readonly string[];
};

/**
 * Whether a reference matches a line: a product matches all its SKUs, a SKU only itself
 * (docs/order-calculation.md#selecting-lines-and-units). An id may also be a source id.
 */
export function matchesItem(
  ref: Pick<ItemRef, "object" | "id" | "sourceId"> & { readonly type?: string | null },
  item: ItemIdentity,
): boolean {
  switch (ref.object) {
    case "product":
      return (
        isNamed(ref, item.productId, item.productSourceId) ||
        (ref.type === "product_or_sku" && isNamed(ref, item.skuId, item.skuSourceId))
      );
    case "sku":
      return isNamed(ref, item.skuId, item.skuSourceId);
    case "products_collection":
      return ref.id !== null && item.collections.includes(ref.id);
    default:
      return ref.object satisfies never;
  }
}

function isNamed(
  { id, sourceId }: Pick<ItemRef, "id" | "sourceId">,
  itemId: string | null,
  itemSourceId: string | null,
): boolean {
  if (id !== null && (id === itemId || id === itemSourceId)) return true;
  return sourceId !== null && sourceId === itemSourceId;
}
