import { timestampDate } from "@bufbuild/protobuf/wkt";
import { type DeliveredEvent, type EventHandler, eventMessage, originOf } from "@scrip/events";
import {
  type RedemptionMade,
  RedemptionMadeSchema,
  type RedemptionRolledBack,
  RedemptionRolledBackSchema,
} from "@scrip/proto/scrip/events/v1/redemptions_pb";

import type { OverrideDeps } from "../catalogue/catalogue-overrides.ts";
import { repairOrder } from "../order/store-order.ts";
import { repairOrders, repairRolledBackOrders } from "../store/order-repairs.ts";
import type { OverridingOrder } from "../store/order-rows.ts";

export const REDEMPTIONS_TOPIC = "scrip.redemptions.v1";

/**
 * Stores the order of a redemption or rollback whose process died between the commit and storing
 * the order. An order that exists and is as new stays unchanged, so the handler is repeatable and
 * needs no inbox.
 */
export const onRedemption =
  (deps: OverrideDeps): EventHandler =>
  async (events) => {
    const { db } = deps;
    const orders = events.flatMap((event) => orderIn(event, RedemptionMadeSchema));
    const plain = orders.filter(({ overrides }) => overrides.length === 0);
    if (plain.length > 0) await repairOrders(db, plain);
    for (const one of orders) {
      if (one.overrides.length > 0) await repairOrder(deps, one);
    }
    const rolledBack = events.flatMap((event) => orderIn(event, RedemptionRolledBackSchema));
    if (rolledBack.length > 0) await repairRolledBackOrders(db, rolledBack);
  };

/** Only one event of a stack carries the order; events of failed redemptions carry none. */
const orderIn = (
  event: DeliveredEvent,
  schema: typeof RedemptionMadeSchema | typeof RedemptionRolledBackSchema,
): readonly OverridingOrder[] => {
  const message: RedemptionMade | RedemptionRolledBack | undefined = eventMessage(event, schema);
  if (message?.order === undefined || message.date === undefined) return [];
  const { projectId, order, date } = message;
  const overrides = "overrides" in message ? message.overrides : [];
  return [{ projectId, order, at: timestampDate(date), overrides, origin: originOf(event) }];
};
