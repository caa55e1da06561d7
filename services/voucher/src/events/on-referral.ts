import { timestampMs } from "@bufbuild/protobuf/wkt";
import { type DeliveredEvent, type EventHandler, eventMessage, originOf } from "@scrip/events";
import { CustomEventReceivedSchema } from "@scrip/proto/scrip/events/v1/customers_pb";
import { OrderPaidSchema } from "@scrip/proto/scrip/events/v1/orders_pb";
import { ReferralCodeRedeemedSchema } from "@scrip/proto/scrip/events/v1/referrals_pb";

import type { Deps } from "../deps.ts";
import { type ConversionRequest, convertReferral } from "../referral/convert.ts";
import { findCodesOfOrder, findProjectsConvertingOrders } from "../store/referral-conversions.ts";

export const ORDERS_TOPIC = "scrip.orders.v1";

type ConversionDeps = Pick<Deps, "db" | "newId" | "onEvents">;

/**
 * Converts referral codes that were redeemed or named by a custom event, and those of customers who paid an order.
 * Idempotent, so it needs no inbox.
 */
export const onReferral =
  (deps: ConversionDeps): EventHandler =>
  async (events) => {
    for (const event of events) {
      const request = conversionOf(event);
      if (request !== undefined) await convertReferral(deps, request);
    }
    const orders = events.filter(({ type }) => type === OrderPaidSchema.typeName);
    if (orders.length > 0) await convertByOrders(deps, orders);
  };

/** Orders of projects without such a program are not decoded. */
async function convertByOrders(
  deps: ConversionDeps,
  events: readonly DeliveredEvent[],
): Promise<void> {
  const projectIds = new Set(events.map(({ projectId }) => projectId));
  const converting = await findProjectsConvertingOrders(deps.db, [...projectIds]);
  for (const event of events.filter(({ projectId }) => converting.has(projectId))) {
    const { projectId, order, date } = eventMessage(event, OrderPaidSchema) ?? {};
    if (projectId === undefined || order?.id === undefined || date === undefined) continue;
    const { id, customerId, referrerId = null } = order;
    if (customerId === undefined) continue;
    for (const voucherId of await findCodesOfOrder(deps.db, {
      projectId,
      customerId,
      referrerId,
    })) {
      const cause = { type: "order" as const, id };
      await convertReferral(deps, {
        projectId,
        voucherId,
        customerId,
        cause,
        at: timestampMs(date),
        origin: originOf(event),
      });
    }
  }
}

function conversionOf(event: DeliveredEvent): ConversionRequest | undefined {
  const origin = originOf(event);
  const redeemed = eventMessage(event, ReferralCodeRedeemedSchema);
  if (redeemed?.date !== undefined) {
    const { projectId, voucherId, customerId, redemptionId, date } = redeemed;
    const cause = { type: "redemption" as const, id: redemptionId };
    return { projectId, voucherId, customerId, cause, at: timestampMs(date), origin };
  }
  const received = eventMessage(event, CustomEventReceivedSchema);
  if (received?.referral === undefined || received.date === undefined) return undefined;
  const { projectId, customerId, eventId, name, schemaId = null, referral, date } = received;
  const { voucherId } = referral;
  const cause = { type: "event" as const, id: eventId, name, schemaId };
  return { projectId, voucherId, customerId, cause, at: timestampMs(date), origin };
}
