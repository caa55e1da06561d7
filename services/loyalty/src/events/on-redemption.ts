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
  addRedemptionCounts,
  type RedemptionCounts,
  customerKey,
  upsertOrders,
} from "../store/customer-counts.ts";
import { newestOrders, lockExistingCustomers, type ReportedOrder } from "./count-orders.ts";

export const REDEMPTIONS_TOPIC = "scrip.redemptions.v1";

/** What an event adds to the summary of its customer. */
type SummaryChange = {
  readonly counts: RedemptionCounts;
  readonly order: ReportedOrder | undefined;
};

/**
 * Counts redemptions, refused ones and rollbacks for the summaries of customers. Each counts once,
 * however often its event comes: the inbox remembers it in the transaction that counts. What has no
 * customer costs nothing here, and what is of a customer who was deleted leaves no trace.
 */
export const onRedemption = (db: Database): EventHandler =>
  inboxHandler(db, {
    consumer: "customer-summary",
    read: summaryChangeOf,
    work: addSummaryChanges,
  });

const NO_COUNTS = { succeeded: 0, failed: 0, rolledBack: 0, rollbacksRejected: 0, giftAmount: 0n };

/** Nothing of an event that is of no customer, or of another kind. */
function summaryChangeOf(event: DeliveredEvent): SummaryChange | undefined {
  const made = eventMessage(event, RedemptionMadeSchema);
  if (made !== undefined) {
    return summaryChangeOfCustomer(made, { succeeded: 1, giftAmount: made.amount ?? 0n });
  }
  const back = eventMessage(event, RedemptionRolledBackSchema);
  if (back !== undefined) {
    const { rejected: refused, amount = 0n } = back;
    return summaryChangeOfCustomer(
      back,
      refused ? { rollbacksRejected: 1 } : { rolledBack: 1, giftAmount: -amount },
    );
  }
  const failed = eventMessage(event, RedemptionFailedSchema);
  return failed && summaryChangeOfCustomer(failed, { failed: 1 });
}

/** The order of the event is of the same customer. */
function summaryChangeOfCustomer(
  event: RedemptionMade | RedemptionRolledBack | RedemptionFailed,
  counted: Partial<typeof NO_COUNTS>,
): SummaryChange | undefined {
  const { projectId, customerId, date } = event;
  if (customerId === undefined) return undefined;
  const order = "order" in event ? event.order : undefined;
  return {
    counts: { projectId, customerId, ...NO_COUNTS, ...counted },
    order:
      order === undefined || date === undefined
        ? undefined
        : { projectId, customerId, order, at: timestampDate(date) },
  };
}

async function addSummaryChanges(tx: Queryable, told: readonly SummaryChange[]): Promise<void> {
  const orders = newestOrders(told.flatMap(({ order }) => order ?? []));
  const left = await lockExistingCustomers(tx, [...told.map(({ counts }) => counts), ...orders]);
  const redemptions = left(sumByCustomer(told));
  if (redemptions.length > 0) await addRedemptionCounts(tx, redemptions);
  const known = left(orders);
  if (known.length > 0) await upsertOrders(tx, known);
}

function sumByCustomer(told: readonly SummaryChange[]): readonly RedemptionCounts[] {
  const sums = new Map<string, RedemptionCounts>();
  for (const { counts } of told) {
    const before = sums.get(customerKey(counts)) ?? NO_COUNTS;
    sums.set(customerKey(counts), {
      ...counts,
      succeeded: before.succeeded + counts.succeeded,
      failed: before.failed + counts.failed,
      rolledBack: before.rolledBack + counts.rolledBack,
      rollbacksRejected: before.rollbacksRejected + counts.rollbacksRejected,
      giftAmount: before.giftAmount + counts.giftAmount,
    });
  }
  return [...sums.values()];
}
