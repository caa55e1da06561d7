import type {
  Order,
  OrderInput,
  OrderItem,
  OrderItemInput,
} from "@scrip/proto/scrip/common/v1/order_pb";

import type { LineSnapshot, OrderSnapshot } from "../domain/input/order.ts";
import { isUnchanged, matchStoredItems } from "./match-stored-items.ts";

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
  const isReplaced = input.items.length > 0;
  const lines = isReplaced ? sentLines(input, stored) : stored.items.map(lineFromStored);
  return {
    amount: input.amount ?? (isReplaced ? null : stored.amount),
    initialAmount: isWorthTheSame(input, stored, lines) ? stored.initialAmount : null,
    discountAmount: stored.discountAmount,
    lines,
    metadata: { ...stored.metadata, ...input.metadata },
  };
}

/** Unchanged items of the stored order keep their discounts. */
function sentLines({ items }: OrderInput, stored: Order): LineSnapshot[] {
  const kept = matchStoredItems(items, stored.items);
  return items.map((item, index) => {
    const line = sentLine(item, kept[index]);
    const discountAmount = line.initialAmount === null ? 0n : (kept[index]?.discountAmount ?? 0n);
    return { ...line, discountAmount };
  });
}

function isWorthTheSame(
  { amount, items }: OrderInput,
  stored: Order,
  lines: readonly LineSnapshot[],
): boolean {
  if (items.length === 0) return amount === undefined;
  const isSame = lines.every(({ initialAmount }) => initialAmount !== null);
  const hasAll = lines.length === stored.items.length;
  return isSame && hasAll && (amount === undefined || amount === stored.amount);
}

/** A sent item; one that is worth what the stored one is keeps its figures before discounts. */
export function sentLine(item: OrderItemInput, stored: OrderItem | undefined): LineSnapshot {
  const line = lineFromInput(item);
  if (stored === undefined || !isUnchanged(item, stored)) return line;
  const { amount, initialAmount, initialQuantity, discountQuantity } = stored;
  return { ...line, amount, initialAmount, initialQuantity, discountQuantity };
}

function lineFromInput(item: OrderItemInput): LineSnapshot {
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
