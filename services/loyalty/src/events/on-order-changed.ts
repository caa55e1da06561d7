import { timestampDate } from "@bufbuild/protobuf/wkt";
import { type EventHandler, eventMessage } from "@scrip/events";
import type { Database } from "@scrip/postgres";
import { OrderEditedSchema, OrderPaidSchema } from "@scrip/proto/scrip/events/v1/orders_pb";

import { countOrders, newestOrders, type ReportedOrder } from "./count-orders.ts";

export const ORDERS_TOPIC = "scrip.orders.v1";

/** Counts orders that are paid or edited without a redemption, for the summaries of customers. */
export const onOrderChanged =
  (db: Database): EventHandler =>
  async (events) => {
    const reported = events.flatMap((event): ReportedOrder[] => {
      const { projectId, order, date } =
        eventMessage(event, OrderPaidSchema) ?? eventMessage(event, OrderEditedSchema) ?? {};
      if (projectId === undefined || order === undefined || date === undefined) return [];
      return [{ projectId, order, at: timestampDate(date) }];
    });
    const orders = newestOrders(reported);
    if (orders.length > 0) await db.transaction((tx) => countOrders(tx, orders));
  };
