import { timestampDate } from "@bufbuild/protobuf/wkt";
import { type DeliveredEvent, type EventHandler, inboxHandler, eventMessage } from "@scrip/events";
import type { Database, Queryable } from "@scrip/postgres";
import {
  type RedemptionFailed,
  RedemptionFailedSchema,
  type RedemptionMade,
  RedemptionMadeSchema,
  type RedemptionRolledBack,
  RedemptionRolledBackSchema,
} from "@scrip/proto/scrip/events/v1/redemptions_pb";

import {
  addRedemptions,
  type CountedRedemptions,
  nameOf,
  putOrders,
} from "../store/customer-counts.ts";
import { newestOrders, ofHeldCustomers, type ToldOrder } from "./count-orders.ts";

export const REDEMPTIONS_TOPIC = "scrip.redemptions.v1";

/** What an event adds to the summary of its customer. */
type Told = { readonly counts: CountedRedemptions; readonly order: ToldOrder | undefined };

/**
 * Counts redemptions, refused ones and rollbacks for the summaries of customers. Each counts once,
 * however often its event comes: the inbox remembers it in the transaction that counts. What has no
 * customer costs nothing here, and what is of a customer who was deleted leaves no trace.
 */
export const onRedemption = (db: Database): EventHandler =>
  inboxHandler(db, { consumer: "customer-summary", read, work: count });

const NOTHING = { succeeded: 0, failed: 0, rolledBack: 0, rollbacksRefused: 0, giftAmount: 0n };

/** Nothing of an event that is of no customer, or of another kind. */
function read(event: DeliveredEvent): Told | undefined {
  const made = eventMessage(event, RedemptionMadeSchema);
  if (made !== undefined) {
    return toldBy(made, { succeeded: 1, giftAmount: made.amount ?? 0n });
  }
  const back = eventMessage(event, RedemptionRolledBackSchema);
  if (back !== undefined) {
    const { rejected: refused, amount = 0n } = back;
    return toldBy(back, refused ? { rollbacksRefused: 1 } : { rolledBack: 1, giftAmount: -amount });
  }
  const failed = eventMessage(event, RedemptionFailedSchema);
  return failed && toldBy(failed, { failed: 1 });
}

/** The order of the event is of the same customer. */
function toldBy(
  event: RedemptionMade | RedemptionRolledBack | RedemptionFailed,
  counted: Partial<typeof NOTHING>,
): Told | undefined {
  const { projectId, customerId, date } = event;
  if (customerId === undefined) return undefined;
  const order = "order" in event ? event.order : undefined;
  return {
    counts: { projectId, customerId, ...NOTHING, ...counted },
    order:
      order === undefined || date === undefined
        ? undefined
        : { projectId, customerId, order, at: timestampDate(date) },
  };
}

async function count(tx: Queryable, told: readonly Told[]): Promise<void> {
  const orders = newestOrders(told.flatMap(({ order }) => order ?? []));
  const left = await ofHeldCustomers(tx, [...told.map(({ counts }) => counts), ...orders]);
  const redemptions = left(sumUp(told));
  if (redemptions.length > 0) await addRedemptions(tx, redemptions);
  const known = left(orders);
  if (known.length > 0) await putOrders(tx, known);
}

function sumUp(told: readonly Told[]): readonly CountedRedemptions[] {
  const sums = new Map<string, CountedRedemptions>();
  for (const { counts } of told) {
    const before = sums.get(nameOf(counts)) ?? NOTHING;
    sums.set(nameOf(counts), {
      ...counts,
      succeeded: before.succeeded + counts.succeeded,
      failed: before.failed + counts.failed,
      rolledBack: before.rolledBack + counts.rolledBack,
      rollbacksRefused: before.rollbacksRefused + counts.rollbacksRefused,
      giftAmount: before.giftAmount + counts.giftAmount,
    });
  }
  return [...sums.values()];
}
