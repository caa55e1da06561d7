import type { MessageInitShape } from "@bufbuild/protobuf";
import { discountToProto, validityToProto } from "@scrip/mapping";
import type { UpdateCampaignRequest } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import type { UpdateVouchersRequestSchema } from "@scrip/proto/scrip/voucher/v1/campaign_vouchers_pb";
import { GiftEffect } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";

import type { Campaign } from "../domain/campaign.ts";
import { voucherCampaignToProto } from "./campaign-voucher.ts";

type VoucherUpdate = MessageInitShape<typeof UpdateVouchersRequestSchema>;

/** Campaign fields that vouchers have copied, and the paths of UpdateVouchers for them. */
const COPIED_FIELDS: Readonly<Record<string, readonly string[]>> = {
  category: ["category_id"],
  category_id: ["category_id"],
  start_date: ["start_date"],
  expiration_date: ["expiration_date"],
  validity_timeframe: ["validity_timeframe"],
  validity_day_of_week: ["validity_day_of_week"],
  validity_hours: ["validity_hours"],
  activity_duration_after_publishing: ["activity_duration_after_publishing"],
  discount: ["discount"],
  gift: ["gift_amount", "gift_effect"],
  loyalty_card: ["loyalty_points"],
};

/** Further fields that the voucher service needs for publications. */
const PUBLICATION_FIELDS: ReadonlySet<string> = new Set([
  "join_once",
  "type",
  "metadata",
  "unset_metadata_fields",
  "referral_program",
]);

/** The update of the campaign's vouchers that follows from an update of the campaign, or undefined. */
export function voucherUpdateToProto(
  campaign: Campaign,
  request: UpdateCampaignRequest,
  sent: ReadonlySet<string>,
): VoucherUpdate | undefined {
  const { voucher, validity } = campaign;
  if (voucher === null) return undefined;
  const paths = [...new Set([...sent].flatMap((path) => COPIED_FIELDS[path] ?? []))];
  const sharesMetadata = campaign.useVoucherMetadataSchema;
  const metadata = sharesMetadata && sent.has("metadata") ? request.metadata : undefined;
  const unset = sharesMetadata ? request.unsetMetadataFields : [];
  if (paths.length === 0 && ![...sent].some((path) => PUBLICATION_FIELDS.has(path)))
    return undefined;
  return {
    campaignId: campaign.id,
    campaign: voucherCampaignToProto(campaign),
    categoryId: campaign.categoryId ?? undefined,
    ...validityToProto(validity),
    activityDurationAfterPublishing: campaign.activityDuration ?? undefined,
    discount: voucher.discount === null ? undefined : discountToProto(voucher.discount),
    giftAmount: voucher.gift?.amount,
    giftEffect: voucher.gift === null ? undefined : GiftEffect[voucher.gift.effect],
    loyaltyPoints: voucher.loyaltyCard?.points,
    metadata,
    unsetMetadataFields: [...unset],
    updateMask: { paths },
  };
}

/** Whether an update concerns vouchers that exist, and not only those that publications create. */
export const changesVouchers = (update: VoucherUpdate | undefined): boolean =>
  (update?.updateMask?.paths?.length ?? 0) > 0 ||
  Object.keys(update?.metadata ?? {}).length > 0 ||
  (update?.unsetMetadataFields?.length ?? 0) > 0;
