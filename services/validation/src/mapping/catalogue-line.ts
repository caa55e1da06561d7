import type { ItemProduct, OrderItemInput } from "@scrip/proto/scrip/common/v1/order_pb";

import type { CatalogueRecord, CatalogueLine } from "../domain/catalogue/product-collections.ts";
import type { Catalogue, FoundProduct, FoundSku } from "../store/catalogue-lookup.ts";
import { sourceIdsOf } from "./order-input.ts";

/** The fields of an order line that reference its product and SKU. */
export type LineItemReference = Pick<
  OrderItemInput,
  "productId" | "skuId" | "relatedObject" | "sourceId" | "product" | "sku"
>;

export type LinesWithCatalogueData<Line> = {
  /** The lines with catalogue data beneath the sent data. */
  readonly items: Line[];
  /** The product and SKU of each line, for collections; sent data overrides stored data. */
  readonly lines: readonly CatalogueLine[];
};

export const skuName = ({
  skuId,
  sku,
  relatedObject,
  sourceId,
}: LineItemReference): string | undefined =>
  skuId ?? sku?.id ?? sku?.sourceId ?? (relatedObject === "sku" ? sourceId : undefined);

export const productName = (item: LineItemReference): string | undefined =>
  item.productId ??
  item.product?.id ??
  item.product?.sourceId ??
  (item.relatedObject === "sku" ? undefined : item.sourceId);

export function entriesOf(
  item: LineItemReference,
  catalogue: Catalogue,
): { readonly sku: FoundSku | undefined; readonly product: FoundProduct | undefined } {
  const sku = catalogue.sku(skuName(item) ?? "");
  const product = catalogue.product(sku?.product_id ?? productName(item) ?? "");
  return { sku, product };
}

export const withCatalogueData = <Line extends LineItemReference>(
  item: Line,
  sku: FoundSku | undefined,
  product: FoundProduct | undefined,
): Line => ({
  ...item,
  ...(sku !== undefined && { skuId: sku.id, sku: skuWithCatalogueData(item, sku) }),
  ...(product !== undefined && {
    productId: product.id,
    product: productWithCatalogueData(item, product),
  }),
});

function skuWithCatalogueData({ sku: sent, product }: LineItemReference, sku: FoundSku) {
  // A sent product price takes precedence over the stored SKU price.
  const price = sent?.price ?? (product?.price === undefined ? sku.price : null);
  return {
    ...sent,
    $typeName: "scrip.common.v1.ItemSku" as const,
    id: sku.id,
    metadata: { ...sku.metadata, ...sent?.metadata },
    ...(sku.source_id !== null && { sourceId: sku.source_id }),
    ...(sku.name !== null && { sku: sent?.sku ?? sku.name }),
    ...(price !== null && { price }),
  };
}

function productWithCatalogueData({ product: sent }: LineItemReference, product: FoundProduct) {
  const price = sent?.price ?? product.price;
  return {
    ...sent,
    $typeName: "scrip.common.v1.ItemProduct" as const,
    id: product.id,
    metadata: { ...product.metadata, ...sent?.metadata },
    ...(product.source_id !== null && { sourceId: product.source_id }),
    ...(product.name !== null && { name: sent?.name ?? product.name }),
    ...(price !== null && { price }),
  };
}

/** A product or SKU of the catalogue that a discount adds or a rule references. */
export type CatalogueUnit = {
  readonly productId: string;
  readonly productSourceId: string | null;
  /** Null for a product. */
  readonly skuId: string | null;
  readonly skuSourceId: string | null;
  /** Name of the product. */
  readonly name: string | null;
  /** Label of the SKU. */
  readonly sku: string | null;
  /** Price of the SKU, otherwise of its product. */
  readonly price: bigint | null;
  readonly productPrice: bigint | null;
  readonly productMetadata: Readonly<Record<string, unknown>>;
  readonly skuMetadata: Readonly<Record<string, unknown>>;
  /** The catalogue entries, for collections. */
  readonly line: CatalogueLine;
};

export const catalogueUnitOf = (
  product: FoundProduct,
  sku: FoundSku | undefined,
): CatalogueUnit => ({
  productId: product.id,
  productSourceId: product.source_id,
  skuId: sku?.id ?? null,
  skuSourceId: sku?.source_id ?? null,
  name: product.name,
  sku: sku?.name ?? null,
  price: sku?.price ?? product.price,
  productPrice: product.price,
  productMetadata: product.metadata,
  skuMetadata: sku?.metadata ?? {},
  line: {
    product: productToCatalogueItem(product),
    sku: sku === undefined ? null : skuToCatalogueItem(sku, product),
  },
});

const productToCatalogueItem = (
  product: FoundProduct,
  sent: Readonly<Record<string, unknown>> = {},
): CatalogueRecord => ({
  object: "product",
  isStored: true,
  id: product.id,
  sourceId: product.source_id,
  productId: null,
  name: product.name,
  price: product.price,
  attributes: product.attributes,
  imageUrl: product.image_url,
  skuIds: [],
  metadata: { ...product.metadata, ...sent },
  createdAt: product.created_ms,
  updatedAt: product.updated_ms,
});

const skuToCatalogueItem = (
  sku: FoundSku,
  product: FoundProduct | undefined,
  sent: Readonly<Record<string, unknown>> = {},
): CatalogueRecord => ({
  object: "sku",
  isStored: true,
  id: sku.id,
  sourceId: sku.source_id,
  productId: sku.product_id,
  name: sku.name,
  price: sku.price ?? product?.price ?? null,
  attributes: Object.keys(sku.attributes),
  imageUrl: sku.image_url,
  skuIds: [],
  metadata: { ...sku.metadata, ...sent },
  createdAt: sku.created_ms,
  updatedAt: sku.updated_ms,
});

/** The catalogue entries of a line with its inline metadata on top; without entries, what the line describes. */
export const catalogueLineOf = (
  item: LineItemReference,
  sku?: FoundSku,
  product?: FoundProduct,
): CatalogueLine => ({
  product:
    product === undefined
      ? describedProduct(item)
      : productToCatalogueItem(product, item.product?.metadata),
  sku:
    sku === undefined
      ? describedSku(item, product)
      : skuToCatalogueItem(sku, product, item.sku?.metadata),
});

/** Fields that exist in catalogue entries only, and not in lines of an order. */
const NOT_STORED = {
  isStored: false,
  attributes: [],
  imageUrl: null,
  skuIds: [],
  createdAt: null,
  updatedAt: null,
} as const;

/** An inline object of ids only is a reference. */
const isDescribed = (
  name: string | undefined,
  { price, metadata }: Pick<Readonly<Partial<ItemProduct>>, "price" | "metadata">,
): boolean => name !== undefined || price !== undefined || Object.keys(metadata ?? {}).length > 0;

function describedProduct(item: LineItemReference): CatalogueRecord | null {
  const { product: sent } = item;
  if (sent === undefined || !isDescribed(sent.name, sent)) return null;
  return {
    ...NOT_STORED,
    object: "product",
    id: item.productId ?? sent.id ?? null,
    sourceId: sourceIdsOf(item).productSourceId,
    productId: null,
    name: sent.name ?? null,
    price: sent.price ?? null,
    metadata: sent.metadata ?? {},
  };
}

function describedSku(
  item: LineItemReference,
  product: FoundProduct | undefined,
): CatalogueRecord | null {
  const { sku: sent } = item;
  if (sent === undefined || !isDescribed(sent.sku, sent)) return null;
  return {
    ...NOT_STORED,
    object: "sku",
    id: item.skuId ?? sent.id ?? null,
    sourceId: sourceIdsOf(item).skuSourceId,
    productId: product?.id ?? item.productId ?? item.product?.id ?? null,
    name: sent.sku ?? null,
    price: sent.price ?? item.product?.price ?? product?.price ?? null,
    metadata: sent.metadata ?? {},
  };
}
