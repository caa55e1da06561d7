import { type DeliveredEvent, type EventHandler, inboxHandler, eventMessage } from "@scrip/events";
import type { Database } from "@scrip/postgres";
import {
  VoucherDeletedSchema,
  VoucherPublishedSchema,
} from "@scrip/proto/scrip/events/v1/vouchers_pb";

import { changeVoucherCounts, type VoucherCountChange } from "../store/voucher-counts.ts";

export const VOUCHERS_TOPIC = "scrip.vouchers.v1";

/**
 * Counts vouchers that publications created (this service counts the vouchers that it creates itself) and
 * deleted vouchers, each exactly once although events are delivered at least once.
 */
export const onVoucher = (db: Database): EventHandler =>
  inboxHandler(db, { consumer: "vouchers-count", read: countChangeOf, work: changeVoucherCounts });

function countChangeOf(event: DeliveredEvent): VoucherCountChange | undefined {
  const published = eventMessage(event, VoucherPublishedSchema);
  if (published !== undefined) {
    const { generated, projectId, campaignId } = published;
    return generated && campaignId !== undefined ? { projectId, campaignId, by: 1 } : undefined;
  }
  const deleted = eventMessage(event, VoucherDeletedSchema);
  if (deleted?.campaignId === undefined) return undefined;
  return { projectId: deleted.projectId, campaignId: deleted.campaignId, by: -1 };
}
