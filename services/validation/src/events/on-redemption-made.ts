import { fromBinary } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { EventHandler } from "@scrip/events";
import type { Database } from "@scrip/postgres";
import { RedemptionMadeSchema } from "@scrip/proto/scrip/events/v1/redemptions_pb";

import { repairOrders, type StoredOrder } from "../store/orders.ts";

export const REDEMPTIONS_TOPIC = "scrip.redemptions.v1";

/**
 * Stores the order of a redemption whose process died between the commit and the order. Most orders
 * are there already. What is there and as new stays as it is, so a repeat changes nothing and no inbox
 * is needed.
 */
export const onRedemptionMade =
  (db: Database): EventHandler =>
  async (events) => {
    const orders = events
      .filter((event) => event.type === RedemptionMadeSchema.typeName)
      .flatMap((event): StoredOrder[] => {
        const { projectId, order, date } = fromBinary(RedemptionMadeSchema, event.payload);
        if (order === undefined || date === undefined) return [];
        return [{ projectId, order, at: timestampDate(date) }];
      });
    if (orders.length > 0) await repairOrders(db, orders);
  };
