import type {
  Order,
  OrderInput,
  OrderItem,
  OrderItemInput,
} from "@scrip/proto/scrip/common/v1/order_pb";

import type { LineSnapshot, OrderSnapshot } from "../domain/input/order.ts";

/**
 * The order as the decision sees it: the stored order, if the request references one, with the sent
 * fields on top.
 */
export function orderFromProto(input: OrderInput, stored: Order | null): OrderSnapshot {
  if (stored === null) {
    return {
      amount: input.amount ?? null,
      initialAmount: null,
      discountAmount: 0n,
      lines: input.items.map(lineFromInput),
      metadata: input.metadata ?? {},
    };
  }
  const replaced = input.items.length > 0 || input.amount !== undefined;
  return {
    amount: input.amount ?? (input.items.length > 0 ? null : stored.amount),
    initialAmount: replaced ? null : stored.initialAmount,
    discountAmount: stored.discountAmount,
    lines:
      input.items.length > 0 ? input.items.map(lineFromInput) : stored.items.map(lineFromStored),
    metadata: { ...stored.metadata, ...input.metadata },
  };
}

export function lineFromInput(item: OrderItemInput): LineSnapshot {
  return {
    productId: item.productId ?? item.product?.id ?? null,
    skuId: item.skuId ?? item.sku?.id ?? null,
    ...sourceIdsOf(item),
    collections: [],
    quantity: item.quantity ?? null,
    amount: item.amount ?? null,
    prices: {
      line: item.price ?? null,
      inlineSku: item.sku?.price ?? null,
      inlineProduct: item.product?.price ?? null,
      storedSku: null,
      storedProduct: null,
    },
    initialQuantity: null,
    initialAmount: null,
    discountAmount: 0n,
    discountQuantity: 0n,
    metadata: item.metadata ?? {},
    productMetadata: item.product?.metadata ?? {},
  };
}

export function lineFromStored(item: OrderItem): LineSnapshot {
  return {
    productId: item.productId ?? null,
    skuId: item.skuId ?? null,
    ...sourceIdsOf(item),
    collections: item.collectionIds,
    quantity: item.quantity,
    amount: item.amount,
    prices: {
      line: item.price ?? null,
      inlineSku: null,
      inlineProduct: null,
      storedSku: null,
      storedProduct: null,
    },
    initialQuantity: item.initialQuantity,
    initialAmount: item.initialAmount,
    discountAmount: item.discountAmount,
    discountQuantity: item.discountQuantity,
    metadata: item.metadata ?? {},
    productMetadata: item.product?.metadata ?? {},
  };
}

/** A line may reference its product or SKU by a source id alone. */
export function sourceIdsOf({
  product,
  sku,
  sourceId,
  relatedObject,
}: Pick<OrderItemInput, "product" | "sku" | "sourceId" | "relatedObject">) {
  const own = sourceId ?? null;
  return {
    productSourceId: product?.sourceId ?? (relatedObject === "sku" ? null : own),
    skuSourceId: sku?.sourceId ?? (relatedObject === "sku" ? own : null),
  };
}
