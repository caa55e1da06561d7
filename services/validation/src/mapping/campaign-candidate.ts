import { create } from "@bufbuild/protobuf";
import type { Campaign } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { LoadedVoucherSchema } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";

import { candidateFromVoucher, type LoadedCandidate } from "./candidate.ts";

/**
 * A new voucher of the campaign as a candidate. Its id and code belong to no stored voucher; its rules
 * and dates are those of the campaign.
 */
export function candidateFromCampaign(
  { id, voucher, useVoucherMetadataSchema, metadata, createdAt }: Campaign,
  holderId: string | undefined,
): readonly LoadedCandidate[] {
  if (voucher === undefined || createdAt === undefined) return [];
  const { type, discount, gift, redemption } = voucher;
  const loaded = create(LoadedVoucherSchema, {
    voucher: {
      id: id.replace("camp_", "v_"),
      code: id,
      campaignId: id,
      type,
      discount,
      gift: gift && { ...gift, $typeName: "scrip.voucher.v1.Gift", balance: gift.amount ?? 0n },
      redemption: { quantity: redemption?.quantity },
      ...(useVoucherMetadataSchema && { metadata }),
      ...(holderId !== undefined && { holderId }),
      createdAt,
    },
  });
  return candidateFromVoucher({ voucher: loaded });
}
