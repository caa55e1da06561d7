import { type DeliveredEvent, type EventHandler, messageOf } from "@scrip/events";
import type { Database } from "@scrip/postgres";
import {
  VoucherDeletedSchema,
  VoucherPublishedSchema,
} from "@scrip/proto/scrip/events/v1/vouchers_pb";

import { changeVoucherCounts, type VoucherCountChange } from "../store/voucher-counts.ts";
import { countingHandler } from "./counting.ts";

export const VOUCHERS_TOPIC = "scrip.vouchers.v1";

/**
 * Counts the vouchers that publications made, which campaigns do not make themselves, and those that
 * are deleted. Each counts once, however often its event comes.
 */
export const onVoucher = (db: Database): EventHandler =>
  countingHandler(db, { consumer: "vouchers-count", changeBy, count: changeVoucherCounts });

function changeBy(event: DeliveredEvent): VoucherCountChange | undefined {
  const published = messageOf(event, VoucherPublishedSchema);
  if (published !== undefined) {
    const { generated, projectId, campaignId } = published;
    return generated && campaignId !== undefined ? { projectId, campaignId, by: 1 } : undefined;
  }
  const { projectId, campaignId } = messageOf(event, VoucherDeletedSchema) ?? {};
  return projectId === undefined || campaignId === undefined
    ? undefined
    : { projectId, campaignId, by: -1 };
}
