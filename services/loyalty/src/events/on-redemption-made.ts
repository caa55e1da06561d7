import { fromBinary } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { type DeliveredEvent, type EventHandler, takeFresh } from "@scrip/events";
import type { Database, Queryable } from "@scrip/postgres";
import { OrderStatus } from "@scrip/proto/scrip/common/v1/order_pb";
import {
  type RedemptionMade,
  RedemptionMadeSchema,
} from "@scrip/proto/scrip/events/v1/redemptions_pb";

import {
  addRedemptions,
  type CountedOrder,
  type CountedRedemptions,
  holdCustomers,
  putOrders,
} from "../store/counts.ts";

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
  const orders = ordersOf(made);
  const held = await holdCustomers(tx, [...made.map(customerOf), ...orders]);
  const there = new Set(held.map(textOf));
  const redemptions = redemptionsOf(made).filter((each) => there.has(textOf(each)));
  if (redemptions.length > 0) await addRedemptions(tx, redemptions);
  const known = orders.filter((order) => there.has(textOf(order)));
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

/** The newest state of each order that is paid. */
function ordersOf(made: readonly RedemptionMade[]): readonly CountedOrder[] {
  const newest = new Map<string, CountedOrder>();
  for (const redemption of made) {
    const { projectId, order, date } = redemption;
    if (order?.id === undefined || date === undefined || !isPaid(order.status)) continue;
    const key = JSON.stringify([projectId, order.id]);
    const at = timestampDate(date);
    const before = newest.get(key);
    if (before !== undefined && before.at > at) continue;
    const customerId = order.customerId ?? customerOf(redemption).customerId;
    newest.set(key, { projectId, customerId, orderId: order.id, amount: order.amount, at });
  }
  return [...newest.values()];
}

const isPaid = (status: OrderStatus | undefined): boolean =>
  status === OrderStatus.PAID || status === OrderStatus.FULFILLED;

const customerOf = ({ projectId, customerId = "" }: RedemptionMade) => ({ projectId, customerId });

const textOf = ({ projectId, customerId }: { projectId: string; customerId: string }): string =>
  JSON.stringify([projectId, customerId]);
