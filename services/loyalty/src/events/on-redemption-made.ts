import { fromBinary } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { type DeliveredEvent, type EventHandler, takeFresh } from "@scrip/events";
import type { Database, Queryable } from "@scrip/postgres";
import {
  type RedemptionMade,
  RedemptionMadeSchema,
} from "@scrip/proto/scrip/events/v1/redemptions_pb";

import { addRedemptions, type CountedRedemptions, putOrders } from "../store/counts.ts";
import { ofHeldCustomers, paidOrders, textOf, type ToldOrder } from "./count-orders.ts";

export const REDEMPTIONS_TOPIC = "scrip.redemptions.v1";
const CONSUMER = "customer-summary";

/**
 * Counts redemptions for the summaries of customers. Each counts once, however often its event
 * comes: the inbox remembers it in the transaction that counts. A redemption without a customer
 * costs nothing here, and one of a customer who was deleted leaves no trace.
 */
export const onRedemptionMade =
  (db: Database): EventHandler =>
  async (events) => {
    const made = new Map<string, RedemptionMade>();
    const relevant: DeliveredEvent[] = [];
    for (const event of events) {
      if (event.type !== RedemptionMadeSchema.typeName) continue;
      const message = fromBinary(RedemptionMadeSchema, event.payload);
      if (message.customerId === undefined) continue;
      made.set(event.id, message);
      relevant.push(event);
    }
    if (relevant.length === 0) return;
    await db.transaction(async (tx) => {
      const fresh = await takeFresh(tx, CONSUMER, relevant);
      await count(
        tx,
        fresh.flatMap(({ id }) => made.get(id) ?? []),
      );
    });
  };

async function count(tx: Queryable, made: readonly RedemptionMade[]): Promise<void> {
  const orders = paidOrders(made.flatMap(toldBy));
  const left = await ofHeldCustomers(tx, [...made.map(customerOf), ...orders]);
  const redemptions = left(redemptionsOf(made));
  if (redemptions.length > 0) await addRedemptions(tx, redemptions);
  const known = left(orders);
  if (known.length > 0) await putOrders(tx, known);
}

function redemptionsOf(made: readonly RedemptionMade[]): readonly CountedRedemptions[] {
  const counted = new Map<string, CountedRedemptions>();
  for (const redemption of made) {
    const customer = customerOf(redemption);
    const before = counted.get(textOf(customer));
    counted.set(textOf(customer), {
      ...customer,
      succeeded: (before?.succeeded ?? 0) + 1,
      // Only gift vouchers give credits: loyalty cards cannot be redeemed yet.
      giftAmount: (before?.giftAmount ?? 0n) + (redemption.amount ?? 0n),
    });
  }
  return [...counted.values()];
}

function toldBy({ projectId, customerId, order, date }: RedemptionMade): ToldOrder[] {
  if (order === undefined || date === undefined) return [];
  return [{ projectId, customerId, order, at: timestampDate(date) }];
}

const customerOf = ({ projectId, customerId = "" }: RedemptionMade) => ({ projectId, customerId });
