import { create, toBinary } from "@bufbuild/protobuf";
import type { OutboxEvent } from "@scrip/events";
import { instantToProto } from "@scrip/mapping";
import {
  CampaignVouchersDeletedSchema,
  VoucherDeletedSchema,
  VoucherPurgedSchema,
} from "@scrip/proto/scrip/events/v1/vouchers_pb";

import type { VoucherDefinition } from "../domain/voucher.ts";
import { VOUCHERS_TOPIC } from "./voucher-published.ts";

export type DeletedVoucher = Pick<VoucherDefinition, "projectId" | "id" | "campaignId" | "code"> & {
  readonly permanent: boolean;
  /** Gift vouchers only. */
  readonly balance: bigint | null;
};

/** The event of a deleted voucher. */
export const voucherDeleted = (id: string, voucher: DeletedVoucher, at: number): OutboxEvent => ({
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
      code: voucher.code,
      permanent: voucher.permanent,
      ...(voucher.balance !== null && { balance: voucher.balance }),
    }),
  ),
});

/** The event of a deleted voucher whose code was freed. */
export const voucherPurged = (id: string, projectId: string, voucherId: string): OutboxEvent => ({
  projectId,
  id,
  topic: VOUCHERS_TOPIC,
  type: VoucherPurgedSchema.typeName,
  key: voucherId,
  payload: toBinary(VoucherPurgedSchema, create(VoucherPurgedSchema, { projectId, voucherId })),
});

/** The event of vouchers that were deleted with their campaign. */
export const campaignVouchersDeleted = (
  id: string,
  vouchers: {
    readonly projectId: string;
    readonly campaignId: string;
    readonly voucherIds: readonly string[];
  },
  at: number,
): OutboxEvent => ({
  projectId: vouchers.projectId,
  id,
  topic: VOUCHERS_TOPIC,
  type: CampaignVouchersDeletedSchema.typeName,
  key: vouchers.campaignId,
  payload: toBinary(
    CampaignVouchersDeletedSchema,
    create(CampaignVouchersDeletedSchema, {
      projectId: vouchers.projectId,
      campaignId: vouchers.campaignId,
      voucherIds: [...vouchers.voucherIds],
      date: instantToProto(at),
    }),
  ),
});
