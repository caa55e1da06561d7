import {
  compilePredicate,
  memberOf,
  type TimeContext,
  type Predicate,
  type RecordFields,
} from "@scrip/filters";

/**
 * A product or SKU as filters of collections read it: from the catalogue, or described by an order
 * line. The price is in minor units, times are epoch milliseconds.
 */
export type CatalogueRecord = {
  readonly object: "product" | "sku";
  /** Whether the catalogue contains it. */
  readonly isStored: boolean;
  readonly id: string | null;
  readonly sourceId: string | null;
  /** SKU: its product. */
  readonly productId: string | null;
  /** SKU: its label. */
  readonly name: string | null;
  /** The SKU's price, or that of its product. */
  readonly price: bigint | null;
  /** Names of the attributes. */
  readonly attributes: readonly string[];
  readonly imageUrl: string | null;
  /** Product: its SKUs, loaded only if a filter reads them (`usesSkus`). */
  readonly skuIds: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly createdAt: number | null;
  readonly updatedAt: number | null;
};

/** The product and SKU of an order line; null if neither the catalogue nor the line describes it. */
export type CatalogueLine = {
  readonly product: CatalogueRecord | null;
  readonly sku: CatalogueRecord | null;
};

/** A product collection, prepared for matching. docs/orders-and-catalogue.md#collections */
export type ProductCollection = { readonly id: string } & (
  | { readonly type: "STATIC"; readonly itemIds: ReadonlySet<string> }
  | {
      readonly type: "AUTO_UPDATE";
      readonly matches: Predicate<CatalogueRecord>;
      /** Whether the filter reads `skuIds`. */
      readonly usesSkus: boolean;
    }
);

/** Ids of the collections that contain the line's product or SKU. */
export const matchingCollections = (
  line: CatalogueLine,
  collections: readonly ProductCollection[],
  time: TimeContext,
): readonly string[] => collections.filter((each) => isIn(line, each, time)).map(({ id }) => id);

/**
 * A static collection with a product contains all its SKUs, and only stored ones. A filter is
 * evaluated on the line's SKU, or on its product without a SKU, stored or not.
 */
function isIn(
  { product, sku }: CatalogueLine,
  collection: ProductCollection,
  time: TimeContext,
): boolean {
  if (collection.type === "STATIC") {
    const { itemIds } = collection;
    return [product, sku].some((item) => item?.isStored === true && itemIds.has(item.id ?? ""));
  }
  const item = sku ?? product;
  return item !== null && collection.matches(item, time);
}

const fields: RecordFields<CatalogueRecord> = {
  named: {
    id: { type: "text", read: ({ id }) => id },
    product_id: { type: "text", read: ({ productId }) => productId },
    source_id: { type: "text", read: ({ sourceId }) => sourceId },
    name: { type: "text", read: ({ name }) => name },
    price: { type: "number", read: ({ price }) => price },
    object: { type: "text", read: ({ object }) => object },
    attributes: { type: "array", read: ({ attributes }) => attributes },
    image_url: { type: "text", read: ({ imageUrl }) => imageUrl },
    skus: { type: "array", read: ({ skuIds }) => skuIds },
    created_at: { type: "date", read: ({ createdAt }) => createdAt },
    updated_at: { type: "date", read: ({ updatedAt }) => updatedAt },
  },
  prefixed: {
    "metadata.": (key) => ({ type: "json", read: ({ metadata }) => memberOf(metadata, key) }),
  },
};

export type ParsedCollectionFilter =
  | {
      readonly kind: "filter";
      readonly matches: Predicate<CatalogueRecord>;
      readonly usesSkus: boolean;
    }
  /** The violation, as an error text. */
  | { readonly kind: "violation"; readonly text: string };

/** Parses the filter of a collection. */
export function parseCollectionFilter(
  filter: Readonly<Record<string, unknown>>,
): ParsedCollectionFilter {
  const compiled = compilePredicate(filter, fields);
  if (compiled.kind === "violation") return compiled;
  return { kind: "filter", matches: compiled.matches, usesSkus: Object.hasOwn(filter, "skus") };
}
