import { fromBinary } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { EventHandler } from "@scrip/events";
import type { Database } from "@scrip/postgres";
import {
  type RedemptionMade,
  RedemptionMadeSchema,
  type RedemptionRolledBack,
  RedemptionRolledBackSchema,
} from "@scrip/proto/scrip/events/v1/redemptions_pb";

import { repairOrders, repairRolledBackOrders } from "../store/order-repairs.ts";
import type { StoredOrder } from "../store/order-rows.ts";

export const REDEMPTIONS_TOPIC = "scrip.redemptions.v1";

/**
 * Stores the order of a redemption or rollback whose process died between the commit and the order.
 * Most orders are there already. What is there and as new stays as it is, so a repeat changes nothing
 * and no inbox is needed.
 */
export const onRedemption =
  (db: Database): EventHandler =>
  async (events) => {
    const made = events.flatMap((event) =>
      event.type === RedemptionMadeSchema.typeName
        ? orderIn(fromBinary(RedemptionMadeSchema, event.payload))
        : [],
    );
    if (made.length > 0) await repairOrders(db, made);
    const rolledBack = events.flatMap((event) =>
      event.type === RedemptionRolledBackSchema.typeName
        ? orderIn(fromBinary(RedemptionRolledBackSchema, event.payload))
        : [],
    );
    if (rolledBack.length > 0) await repairRolledBackOrders(db, rolledBack);
  };

/** Only one event of a stack carries its order, and none of what was refused. */
const orderIn = ({
  projectId,
  order,
  date,
}: RedemptionMade | RedemptionRolledBack): readonly StoredOrder[] =>
  order === undefined || date === undefined ? [] : [{ projectId, order, at: timestampDate(date) }];
