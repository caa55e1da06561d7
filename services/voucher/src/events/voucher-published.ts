import { create, toBinary } from "@bufbuild/protobuf";
import type { OutboxEvent } from "@scrip/events";
import { instantToProto } from "@scrip/mapping";
import { VoucherPublishedSchema } from "@scrip/proto/scrip/events/v1/vouchers_pb";

import type { CampaignType } from "../domain/voucher.ts";
import type { PublishedHolder } from "../store/holders.ts";

export const VOUCHERS_TOPIC = "scrip.vouchers.v1";

/** The event of a voucher that was published to a customer. */
export const voucherPublished = (
  id: string,
  holder: PublishedHolder,
  {
    channel,
    generated,
    loyaltyPoints,
    campaignType,
  }: {
    readonly channel: string;
    readonly generated: boolean;
    /** Null unless the voucher is a loyalty card. */
    readonly loyaltyPoints: bigint | null;
    readonly campaignType: CampaignType | null;
  },
): OutboxEvent => ({
  projectId: holder.projectId,
  id,
  topic: VOUCHERS_TOPIC,
  type: VoucherPublishedSchema.typeName,
  key: holder.voucherId,
  payload: toBinary(
    VoucherPublishedSchema,
    create(VoucherPublishedSchema, {
      projectId: holder.projectId,
      publicationId: holder.publicationId,
      voucherId: holder.voucherId,
      ...(holder.campaignId !== null && { campaignId: holder.campaignId }),
      customerId: holder.customerId,
      holderId: holder.id,
      date: instantToProto(holder.createdAt),
      channel,
      generated,
      ...(loyaltyPoints !== null && { loyaltyPoints }),
      ...(campaignType !== null && { campaignType }),
    }),
  ),
});
