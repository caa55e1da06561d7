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

/** The change of a customer's summary by an event. */
type SummaryChange = {
  readonly counts: RedemptionCounts;
  readonly order: ReportedOrder | undefined;
};

/**
 * Counts redemptions, failed redemptions and rollbacks for the summaries of customers, each exactly once
 * although events are delivered at least once. Events without a customer, or of a deleted one, are skipped.
 */
export const onRedemption = (db: Database): EventHandler =>
  inboxHandler(db, {
    consumer: "customer-summary",
    read: summaryChangeOf,
    work: addSummaryChanges,
  });

const NO_COUNTS = { succeeded: 0, failed: 0, rolledBack: 0, rollbacksRejected: 0, giftAmount: 0n };

function summaryChangeOf(event: DeliveredEvent): SummaryChange | undefined {
  const redemption = eventMessage(event, RedemptionMadeSchema);
  if (redemption !== undefined) {
    const counted = { succeeded: 1, giftAmount: redemption.amount ?? 0n };
    return summaryChangeOfCustomer(redemption, counted);
  }
  const rollback = eventMessage(event, RedemptionRolledBackSchema);
  if (rollback !== undefined) {
    const { rejected, amount = 0n } = rollback;
    return summaryChangeOfCustomer(
      rollback,
      rejected ? { rollbacksRejected: 1 } : { rolledBack: 1, giftAmount: -amount },
    );
  }
  const failed = eventMessage(event, RedemptionFailedSchema);
  return failed && summaryChangeOfCustomer(failed, { failed: 1 });
}

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

async function addSummaryChanges(tx: Queryable, changes: readonly SummaryChange[]): Promise<void> {
  const orders = newestOrders(changes.flatMap(({ order }) => order ?? []));
  const withoutDeleted = await lockExistingCustomers(tx, [
    ...changes.map(({ counts }) => counts),
    ...orders,
  ]);
  const redemptions = withoutDeleted(sumByCustomer(changes));
  if (redemptions.length > 0) await addRedemptionCounts(tx, redemptions);
  const existing = withoutDeleted(orders);
  if (existing.length > 0) await upsertOrders(tx, existing);
}

function sumByCustomer(changes: readonly SummaryChange[]): readonly RedemptionCounts[] {
  const sums = new Map<string, RedemptionCounts>();
  for (const { counts } of changes) {
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
