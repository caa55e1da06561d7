import { fromBinary } from "@bufbuild/protobuf";
import type { DeliveredEvent, EventHandler } from "@scrip/events";
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

function changeBy({ type, payload }: DeliveredEvent): VoucherCountChange | undefined {
  if (type === VoucherPublishedSchema.typeName) {
    const { generated, projectId, campaignId } = fromBinary(VoucherPublishedSchema, payload);
    return generated && campaignId !== undefined ? { projectId, campaignId, by: 1 } : undefined;
  }
  if (type === VoucherDeletedSchema.typeName) {
    const { projectId, campaignId } = fromBinary(VoucherDeletedSchema, payload);
    return campaignId === undefined ? undefined : { projectId, campaignId, by: -1 };
  }
  return undefined;
}
