import { fromBinary } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { EventHandler } from "@scrip/events";
import {
  type RedemptionMade,
  RedemptionMadeSchema,
  type RedemptionRolledBack,
  RedemptionRolledBackSchema,
} from "@scrip/proto/scrip/events/v1/redemptions_pb";

import type { OverrideDeps } from "../gather/overrides.ts";
import { repairOrder } from "../gather/store-order.ts";
import { repairOrders, repairRolledBackOrders } from "../store/order-repairs.ts";
import type { OverridingOrder } from "../store/order-rows.ts";

export const REDEMPTIONS_TOPIC = "scrip.redemptions.v1";

/**
 * Stores the order of a redemption or rollback whose process died between the commit and the order.
 * Most orders are there already. What is there and as new stays as it is, so a repeat changes nothing
 * and no inbox is needed.
 */
export const onRedemption =
  (deps: OverrideDeps): EventHandler =>
  async (events) => {
    const { db } = deps;
    const made = events.flatMap((event) =>
      event.type === RedemptionMadeSchema.typeName
        ? orderIn(fromBinary(RedemptionMadeSchema, event.payload))
        : [],
    );
    const plain = made.filter(({ overrides }) => overrides.length === 0);
    if (plain.length > 0) await repairOrders(db, plain);
    for (const one of made) {
      if (one.overrides.length > 0) await repairOrder(deps, one);
    }
    const rolledBack = events.flatMap((event) =>
      event.type === RedemptionRolledBackSchema.typeName
        ? orderIn(fromBinary(RedemptionRolledBackSchema, event.payload))
        : [],
    );
    if (rolledBack.length > 0) await repairRolledBackOrders(db, rolledBack);
  };

/** Only one event of a stack carries its order, and none of what was refused. */
const orderIn = (event: RedemptionMade | RedemptionRolledBack): readonly OverridingOrder[] => {
  const { projectId, order, date } = event;
  if (order === undefined || date === undefined) return [];
  const overrides = "overrides" in event ? event.overrides : [];
  return [{ projectId, order, at: timestampDate(date), overrides }];
};
