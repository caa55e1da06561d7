import {
  compilePredicate,
  memberOf,
  type TimeContext,
  type Predicate,
  type RecordFields,
} from "@scrip/filters";

/** What the catalogue holds of a product or a SKU. The price is in minor units, times are epoch ms. */
export type CatalogueRecord = {
  readonly object: "product" | "sku";
  readonly id: string;
  readonly sourceId: string | null;
  /** Of a SKU. */
  readonly productId: string | null;
  /** Of a SKU: its label. */
  readonly name: string | null;
  /** A SKU's own, or its product's. */
  readonly price: bigint | null;
  /** The names: what the SKUs of a product differ in, or what a SKU tells about itself. */
  readonly attributes: readonly string[];
  readonly imageUrl: string | null;
  /** Of a product, as far as anybody asked: `usesSkus`. */
  readonly skuIds: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly createdAt: number | null;
  readonly updatedAt: number | null;
};

/** What a line of an order is of; null where the catalogue does not know it. */
export type CatalogueLine = {
  readonly product: CatalogueRecord | null;
  readonly sku: CatalogueRecord | null;
};

/** A set of products and SKUs, ready to be asked (spec/campaigns-loyalty-platform.md §16). */
export type ProductCollection = { readonly id: string } & (
  | { readonly type: "STATIC"; readonly itemIds: ReadonlySet<string> }
  | {
      readonly type: "AUTO_UPDATE";
      readonly matches: Predicate<CatalogueRecord>;
      /** Whether the filter reads `skuIds`. */
      readonly usesSkus: boolean;
    }
);

/** Ids of those of the collections that the line's product or SKU is in. */
export const matchingCollections = (
  line: CatalogueLine,
  collections: readonly ProductCollection[],
  time: TimeContext,
): readonly string[] => collections.filter((each) => isIn(line, each, time)).map(({ id }) => id);

/**
 * A static collection that lists a product has all its SKUs. One with a filter tests what the line
 * carries: its SKU, or the product where there is none (spec/validation-and-redemption.md §1.7.4).
 */
function isIn(
  { product, sku }: CatalogueLine,
  collection: ProductCollection,
  time: TimeContext,
): boolean {
  if (collection.type === "STATIC") {
    const { itemIds } = collection;
    return [product, sku].some((item) => item !== null && itemIds.has(item.id));
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
  /** What is wrong with it, in the words of the API. */
  | { readonly kind: "violation"; readonly text: string };

/** Reads the filter of a collection, as it is sent and stored. */
export function parseCollectionFilter(
  filter: Readonly<Record<string, unknown>>,
): ParsedCollectionFilter {
  const compiled = compilePredicate(filter, fields);
  if (compiled.kind === "violation") return compiled;
  return { kind: "filter", matches: compiled.matches, usesSkus: Object.hasOwn(filter, "skus") };
}
