import type { MessageInitShape } from "@bufbuild/protobuf";
import { refusalOf } from "@scrip/errors";
import type {
  CampaignVoucherItemSchema,
  VoucherCampaignSchema,
} from "@scrip/proto/scrip/voucher/v1/campaign_vouchers_pb";
import { GiftEffect, type Voucher, VoucherType } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Call } from "@scrip/rpc";
import { toDiscount, validityFields } from "@scrip/terms";

import type { Deps } from "../deps.ts";
import { type Campaign, voucherTypeOf } from "../domain/campaign.ts";

export type VoucherItem = Exclude<
  MessageInitShape<typeof CampaignVoucherItemSchema>,
  { $typeName: string }
>;
export type NewVoucher = Exclude<NonNullable<VoucherItem["voucher"]>, { $typeName: string }>;

/** A voucher that has from its campaign what it was not given itself (§4.4 rule 5). */
export function inherit(campaign: Campaign, own: NewVoucher = {}): VoucherItem {
  const { voucher, validity, categoryId, activityDuration } = campaign;
  const type = voucherTypeOf(campaign.campaignType);
  if (voucher === null || type === null) throw new Error("promotions have no vouchers");
  const { discount, gift, loyaltyCard, quantity, codeConfig } = voucher;
  const { startDate, expirationDate, ...windows } = validityFields(validity);
  return {
    activityDurationAfterPublishing: activityDuration ?? undefined,
    voucher: {
      type: VoucherType[type],
      discount: discount === null ? undefined : toDiscount(discount),
      gift: gift === null ? undefined : { amount: gift.amount, effect: GiftEffect[gift.effect] },
      loyaltyCard: loyaltyCard === null ? undefined : { points: loyaltyCard.points },
      ...windows,
      code: own.code,
      codeConfig: own.codeConfig ?? { ...codeConfig, length: BigInt(codeConfig.length) },
      categoryId: own.categoryId ?? categoryId ?? undefined,
      redemption: own.redemption ?? { quantity: quantity ?? undefined },
      additionalInfo: own.additionalInfo,
      startDate: own.startDate ?? startDate,
      expirationDate: own.expirationDate ?? expirationDate,
      metadata: {
        ...(campaign.useVoucherMetadataSchema ? campaign.metadata : {}),
        ...own.metadata,
      } as NonNullable<NewVoucher["metadata"]>,
    },
  };
}

/** What the voucher service keeps of a campaign. */
export const toldCampaign = (
  campaign: Campaign,
): MessageInitShape<typeof VoucherCampaignSchema> => ({
  id: campaign.id,
  name: campaign.name,
  campaignType: campaign.campaignType,
  vouchersCount: campaign.vouchersCount,
  joinOnce: campaign.joinOnce,
  // Only such a campaign has a new voucher for everybody who wants one.
  template: campaign.kind === "AUTO_UPDATE" ? inherit(campaign) : undefined,
});

/** Makes vouchers of a campaign, all or none: then the refusal is answered. */
export async function makeVouchers(
  deps: Deps,
  call: Call,
  { campaign, items }: { readonly campaign: Campaign; readonly items: readonly VoucherItem[] },
): Promise<readonly Voucher[] | Error> {
  const { outcomes } = await deps.vouchers.createVouchers(
    {
      campaign: toldCampaign(campaign),
      items: [...items],
      allOrNone: true,
    },
    call,
  );
  for (const { outcome } of outcomes) {
    if (outcome.case === "refused") return refusalOf(outcome.value);
  }
  return outcomes.flatMap(({ outcome }) => (outcome.case === "voucher" ? outcome.value : []));
}
