import { create, toBinary } from "@bufbuild/protobuf";
import type { OutboxEvent } from "@scrip/events";
import { instantToProto } from "@scrip/mapping";
import { VoucherDeletedSchema } from "@scrip/proto/scrip/events/v1/vouchers_pb";

import type { VoucherDefinition } from "../domain/voucher.ts";
import { VOUCHERS_TOPIC } from "./voucher-published.ts";

/** The event of a deleted voucher. */
export const voucherDeleted = (
  id: string,
  voucher: Pick<VoucherDefinition, "projectId" | "id" | "campaignId">,
  at: number,
): OutboxEvent => ({
  projectId: voucher.projectId,
  id,
  topic: VOUCHERS_TOPIC,
  type: VoucherDeletedSchema.typeName,
  key: voucher.id,
  payload: toBinary(
    VoucherDeletedSchema,
    create(VoucherDeletedSchema, {
      projectId: voucher.projectId,
      voucherId: voucher.id,
      ...(voucher.campaignId !== null && { campaignId: voucher.campaignId }),
      date: instantToProto(at),
    }),
  ),
});
