import { create, toBinary } from "@bufbuild/protobuf";
import type { OutboxEvent } from "@scrip/events";
import { instantToProto } from "@scrip/mapping";
import { GiftBalanceAdjustedSchema } from "@scrip/proto/scrip/events/v1/vouchers_pb";

import { type GiftAdjustment, giftEntryId } from "../store/gift-ledger.ts";
import { VOUCHERS_TOPIC } from "./voucher-published.ts";

/** The event of an adjusted gift voucher. */
export const giftBalanceAdjusted = (
  id: string,
  { usage, change, sourceId, reason, at }: GiftAdjustment,
  campaignId: string | null,
): OutboxEvent => ({
  projectId: usage.projectId,
  id,
  topic: VOUCHERS_TOPIC,
  type: GiftBalanceAdjustedSchema.typeName,
  key: usage.voucherId,
  payload: toBinary(
    GiftBalanceAdjustedSchema,
    create(GiftBalanceAdjustedSchema, {
      projectId: usage.projectId,
      voucherId: usage.voucherId,
      ...(campaignId !== null && { campaignId }),
      transactionId: giftEntryId({ at, voucherId: usage.voucherId, version: usage.ledgerVersion }),
      amount: change,
      total: usage.amount,
      balance: usage.balance,
      ...(sourceId !== null && { sourceId }),
      ...(reason !== null && { reason }),
      date: instantToProto(at),
    }),
  ),
});
