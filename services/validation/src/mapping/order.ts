import type { JsonObject } from "@bufbuild/protobuf";
import type {
  ApplicationDetails,
  Order,
  OrderInput,
  OrderItem,
  OrderItemInput,
} from "@scrip/proto/scrip/common/v1/order_pb";

import type { CatalogueItem } from "../domain/input/catalogue-item.ts";
import type { LineFigures, OrderFigures } from "../domain/order/order-figures.ts";
import type { UnitExchange } from "../domain/order/order-state.ts";
import type { OrderKey } from "../store/orders.ts";
import { matchStoredItems } from "./match-stored-items.ts";

/** The calculated order of a response, with the data that was sent. */
export function orderToProto(
  figures: OrderFigures,
  input: OrderInput,
  stored: Order | null,
): Order {
  const items = input.items.length > 0 ? input.items : (stored?.items ?? []);
  const kept = matchStoredItems(input.items, stored?.items ?? []);
  return {
    $typeName: "scrip.common.v1.Order",
    amount: figures.amount,
    initialAmount: figures.initialAmount,
    discountAmount: figures.discountAmount,
    itemsDiscountAmount: figures.itemsDiscountAmount,
    totalDiscountAmount: figures.totalDiscountAmount,
    totalAmount: figures.totalAmount,
    appliedDiscountAmount: figures.appliedDiscountAmount,
    itemsAppliedDiscountAmount: figures.itemsAppliedDiscountAmount,
    totalAppliedDiscountAmount: figures.totalAppliedDiscountAmount,
    items: figures.lines.map((line, index) => itemToProto(line, items[index], kept[index]?.id)),
    redemptions: stored?.redemptions ?? {},
    metadata: { ...stored?.metadata, ...input.metadata },
    ...(stored?.id !== undefined && { id: stored.id }),
    ...((input.sourceId ?? stored?.sourceId) !== undefined && {
      sourceId: input.sourceId ?? stored?.sourceId,
    }),
    ...((input.status ?? stored?.status) !== undefined && {
      status: input.status ?? stored?.status,
    }),
    ...(stored?.createdAt !== undefined && { createdAt: stored.createdAt }),
    ...(stored?.updatedAt !== undefined && { updatedAt: stored.updatedAt }),
  };
}

function itemToProto(
  line: LineFigures,
  item: OrderItemInput | OrderItem | undefined,
  keptId: string | undefined,
): OrderItem {
  return {
    $typeName: "scrip.common.v1.OrderItem",
    quantity: line.quantity,
    initialQuantity: line.initialQuantity,
    discountQuantity: line.discountQuantity,
    amount: line.amount,
    initialAmount: line.initialAmount,
    discountAmount: line.discountAmount,
    appliedDiscountAmount: line.appliedDiscountAmount,
    appliedDiscountQuantity: line.appliedDiscountQuantity,
    appliedQuantity: line.appliedQuantity,
    appliedQuantityAmount: line.appliedQuantityAmount,
    subtotalAmount: line.subtotalAmount,
    applicationDetails: line.exchanges.map(detailsOf),
    collectionIds: [...line.collections],
    ...(line.price !== null && { price: line.price }),
    ...(item !== undefined && described(item)),
    ...(keptId !== undefined && { id: keptId }),
    ...(line.addedItem !== null && addedItem(line.addedItem)),
  };
}

const detailsOf = (application: UnitExchange): ApplicationDetails => ({
  $typeName: "scrip.common.v1.ApplicationDetails",
  ...application,
});

/** A line that a discount added, described like a sent line. */
function addedItem(item: CatalogueItem): Partial<OrderItem> {
  const { price } = item;
  return {
    productId: item.productId,
    relatedObject: item.skuId === null ? "product" : "sku",
    product: {
      $typeName: "scrip.common.v1.ItemProduct",
      id: item.productId,
      metadata: item.productMetadata as JsonObject,
      ...(item.productSourceId !== null && { sourceId: item.productSourceId }),
      ...(item.name !== null && { name: item.name }),
      ...(item.productPrice !== null && { price: item.productPrice }),
    },
    ...(item.skuId !== null && {
      skuId: item.skuId,
      sku: {
        $typeName: "scrip.common.v1.ItemSku",
        id: item.skuId,
        metadata: item.metadata as JsonObject,
        ...(price !== null && { price }),
        ...(item.skuSourceId !== null && { sourceId: item.skuSourceId }),
        ...(item.skuLabel !== null && { sku: item.skuLabel }),
      },
    }),
  };
}

/** The descriptive fields of a line, as sent. */
function described(item: OrderItemInput | OrderItem): Partial<OrderItem> {
  const { sourceId, productId, skuId, relatedObject, product, sku, metadata } = item;
  return {
    // Only a stored item has an id of the order; the id in a request may be unknown to it.
    ...(item.$typeName === "scrip.common.v1.OrderItem" && item.id !== undefined && { id: item.id }),
    ...(sourceId !== undefined && { sourceId }),
    ...(productId !== undefined && { productId }),
    ...(skuId !== undefined && { skuId }),
    ...(relatedObject !== undefined && { relatedObject }),
    ...(product !== undefined && { product }),
    ...(sku !== undefined && { sku }),
    ...(metadata !== undefined && { metadata }),
  };
}

export function orderKey(input: Pick<OrderInput, "id" | "sourceId">): OrderKey | undefined {
  if (input.id !== undefined) return { column: "id", value: input.id };
  if (input.sourceId !== undefined) return { column: "source_id", value: input.sourceId };
  return undefined;
}
