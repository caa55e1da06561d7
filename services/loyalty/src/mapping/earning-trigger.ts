import { timestampMs } from "@bufbuild/protobuf/wkt";
import { type EventEnvelope, eventMessage } from "@scrip/events";
import type { Order, OrderItem } from "@scrip/proto/scrip/common/v1/order_pb";
import {
  CustomEventReceivedSchema,
  SegmentEnteredSchema,
} from "@scrip/proto/scrip/events/v1/customers_pb";
import {
  type LoyaltyTierChanged,
  LoyaltyTierChangedSchema,
} from "@scrip/proto/scrip/events/v1/loyalty_tiers_pb";
import { OrderPaidSchema } from "@scrip/proto/scrip/events/v1/orders_pb";

import { isCustomEvent, ORDER_PAID, SEGMENT_ENTERED } from "../domain/earning/earning-rule.ts";
import type { EarningTrigger } from "../domain/earning/grants.ts";
import type { EarningItem, EarningOrder } from "../domain/earning/subject.ts";

/** What an event earns points for; undefined for other events, and for orders without a customer. */
export function earningTriggerOf(event: EventEnvelope): EarningTrigger | undefined {
  const paid = eventMessage(event, OrderPaidSchema);
  if (paid !== undefined) {
    const { projectId, order, date } = paid;
    const customerId = order?.customerId;
    if (order?.id === undefined || customerId === undefined || date === undefined) return undefined;
    return {
      projectId,
      causeId: order.id,
      event: ORDER_PAID,
      eventId: event.id,
      eventType: "customer.order.paid",
      customerId,
      objectId: null,
      cardId: null,
      at: timestampMs(date),
      order: earningOrderFromProto(order),
      eventMetadata: null,
    };
  }
  const changed = eventMessage(event, LoyaltyTierChangedSchema);
  if (changed?.date !== undefined) return tierTrigger(event, changed, timestampMs(changed.date));
  const entered = eventMessage(event, SegmentEnteredSchema);
  if (entered?.date !== undefined) {
    const { projectId, customerId, segmentId, date } = entered;
    const about = { event: SEGMENT_ENTERED, objectId: segmentId, at: timestampMs(date) };
    return customerTrigger(event, { projectId, customerId, ...about });
  }
  const received = eventMessage(event, CustomEventReceivedSchema);
  if (received?.date === undefined || !isCustomEvent(received.name)) return undefined;
  const { projectId, eventId, name, customerId, loyaltyCardId, metadata = {}, date } = received;
  return {
    projectId,
    causeId: eventId,
    event: name,
    eventId,
    eventType: name,
    customerId,
    objectId: null,
    cardId: loyaltyCardId ?? null,
    at: timestampMs(date),
    order: null,
    eventMetadata: metadata,
  };
}

/** Cards of all programs of the customer can earn for a tier, unless the rule belongs to another tier. */
const tierTrigger = (
  event: EventEnvelope,
  { projectId, customerId, change, tier, previous }: LoyaltyTierChanged,
  at: number,
): EarningTrigger =>
  customerTrigger(event, {
    projectId,
    customerId,
    event: `customer.loyalty.tier.${change}`,
    objectId: (tier ?? previous)?.id ?? null,
    at,
  });

/** A trigger that is about the customer only: each event grants points. */
const customerTrigger = (
  { id }: EventEnvelope,
  trigger: Pick<EarningTrigger, "projectId" | "customerId" | "event" | "objectId" | "at">,
): EarningTrigger => ({
  ...trigger,
  causeId: id,
  eventId: id,
  eventType: trigger.event,
  cardId: null,
  order: null,
  eventMetadata: null,
});

export const earningOrderFromProto = (order: Order): EarningOrder => ({
  id: order.id ?? null,
  sourceId: order.sourceId ?? null,
  amount: order.amount,
  initialAmount: order.initialAmount,
  totalAmount: order.totalAmount,
  metadata: order.metadata ?? {},
  items: order.items.map(earningItemFromProto),
});

const earningItemFromProto = (item: OrderItem): EarningItem => ({
  productId: item.productId ?? null,
  skuId: item.skuId ?? null,
  productSourceId: item.product?.sourceId ?? sourceIdOf(item, "product"),
  skuSourceId: item.sku?.sourceId ?? sourceIdOf(item, "sku"),
  collections: item.collectionIds,
  price: item.price ?? null,
  quantity: item.quantity,
  discountQuantity: item.discountQuantity,
  amount: item.amount,
  subtotalAmount: item.subtotalAmount,
  metadata: item.metadata ?? {},
  productMetadata: item.sku?.metadata ?? item.product?.metadata ?? {},
});

const sourceIdOf = ({ relatedObject, sourceId }: OrderItem, kind: string): string | null =>
  relatedObject === kind ? (sourceId ?? null) : null;
