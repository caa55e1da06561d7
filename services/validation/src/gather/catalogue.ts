import type { OrderInput, OrderItemInput } from "@scrip/proto/scrip/common/v1/order_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import {
  type Catalogue,
  findInCatalogue,
  type ProductRow,
  type SkuRow,
} from "../store/catalogue.ts";

/**
 * The request with what the catalogue knows of the lines that name a product or a SKU. What was sent
 * wins over what is stored (spec/validation-and-redemption.md §1.1); lines without a name, and requests
 * without lines, cost nothing. An unknown product simply has no catalogue data.
 */
export async function withCatalogue<Request extends { readonly order?: OrderInput | undefined }>(
  deps: Pick<Deps, "db">,
  call: Call,
  request: Request,
): Promise<Request> {
  const { order } = request;
  if (order === undefined || order.items.length === 0) return request;
  const items = await describedItems(deps, call, order.items);
  return { ...request, order: { ...order, items } };
}

export async function describedItems(
  deps: Pick<Deps, "db">,
  call: Call,
  items: OrderItemInput[],
): Promise<OrderItemInput[]> {
  const skus = items.flatMap((item) => skuName(item) ?? []);
  const products = items.flatMap((item) => productName(item) ?? []);
  if (skus.length === 0 && products.length === 0) return items;
  const catalogue = await findInCatalogue(deps.db, { projectId: call.project.id, skus, products });
  return items.map((item) => described(item, catalogue));
}

const skuName = ({ skuId, sku, relatedObject, sourceId }: OrderItemInput): string | undefined =>
  skuId ?? sku?.id ?? sku?.sourceId ?? (relatedObject === "sku" ? sourceId : undefined);

const productName = (item: OrderItemInput): string | undefined =>
  item.productId ??
  item.product?.id ??
  item.product?.sourceId ??
  (item.relatedObject === "sku" ? undefined : item.sourceId);

function described(item: OrderItemInput, catalogue: Catalogue): OrderItemInput {
  const sku = catalogue.sku(skuName(item) ?? "");
  const product = catalogue.product(sku?.product_id ?? productName(item) ?? "");
  return {
    ...item,
    ...(sku !== undefined && { skuId: sku.id, sku: describedSku(item, sku) }),
    ...(product !== undefined && {
      productId: product.id,
      product: describedProduct(item, product),
    }),
  };
}

function describedSku({ sku: sent, product }: OrderItemInput, sku: SkuRow) {
  // A price that was sent for the product comes before the one that is stored for its SKU.
  const price = sent?.price ?? (product?.price === undefined ? sku.price : null);
  return {
    ...sent,
    $typeName: "scrip.common.v1.ItemSku" as const,
    id: sku.id,
    metadata: { ...sku.metadata, ...sent?.metadata },
    ...(sku.source_id !== null && { sourceId: sku.source_id }),
    ...(sku.sku !== null && { sku: sent?.sku ?? sku.sku }),
    ...(price !== null && { price }),
  };
}

function describedProduct({ product: sent }: OrderItemInput, product: ProductRow) {
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
