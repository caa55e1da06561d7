import type { MessageInitShape } from "@bufbuild/protobuf";
import { errorFromProto } from "@scrip/errors";
import { discountToProto, validityToProto } from "@scrip/mapping";
import type {
  CampaignVoucherItemSchema,
  VoucherCampaignSchema,
} from "@scrip/proto/scrip/voucher/v1/campaign_vouchers_pb";
import { GiftEffect, type Voucher, VoucherType } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { type Campaign, voucherTypeOf } from "../domain/campaign.ts";

export type VoucherItem = Exclude<
  MessageInitShape<typeof CampaignVoucherItemSchema>,
  { $typeName: string }
>;
export type NewVoucher = Exclude<NonNullable<VoucherItem["voucher"]>, { $typeName: string }>;

/** A voucher that has from its campaign what it was not given itself (§4.4 rule 5). */
export function inherit(campaign: Campaign, own: NewVoucher = {}): VoucherItem {
  const { voucher, categoryId, activityDuration } = campaign;
  const type = voucherTypeOf(campaign.campaignType);
  if (voucher === null || type === null) throw new Error("promotions have no vouchers");
  const { discount, gift, loyaltyCard, quantity, codeConfig } = voucher;
  return {
    activityDurationAfterPublishing: activityDuration ?? undefined,
    voucher: {
      ...own,
      type: VoucherType[type],
      discount: own.discount ?? (discount === null ? undefined : discountToProto(discount)),
      gift:
        gift === null
          ? own.gift
          : { amount: gift.amount, effect: GiftEffect[gift.effect], ...own.gift },
      loyaltyCard:
        own.loyaltyCard ?? (loyaltyCard === null ? undefined : { points: loyaltyCard.points }),
      ...validityOf(campaign, own),
      codeConfig: own.codeConfig ?? { ...codeConfig, length: BigInt(codeConfig.length) },
      categoryId: own.categoryId ?? categoryId ?? undefined,
      redemption: own.redemption ?? { quantity: quantity ?? undefined },
      metadata: {
        ...(campaign.useVoucherMetadataSchema ? campaign.metadata : {}),
        ...own.metadata,
      } as NonNullable<NewVoucher["metadata"]>,
    },
  };
}

/** Hours stand alone: a voucher that has its own has no other windows of the campaign, and vice versa. */
function validityOf({ validity }: Campaign, own: NewVoucher) {
  const of = validityToProto(validity);
  const ownDays = own.validityDayOfWeek ?? [];
  const ownWindows = own.validityTimeframe !== undefined || ownDays.length > 0;
  const ownHours = own.validityHours !== undefined;
  return {
    startDate: own.startDate ?? of.startDate,
    expirationDate: own.expirationDate ?? of.expirationDate,
    validityTimeframe: own.validityTimeframe ?? (ownHours ? undefined : of.validityTimeframe),
    validityDayOfWeek: ownDays.length > 0 || ownHours ? ownDays : of.validityDayOfWeek,
    validityHours: own.validityHours ?? (ownWindows ? undefined : of.validityHours),
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
    if (outcome.case === "rejected") return errorFromProto(outcome.value);
  }
  return outcomes.flatMap(({ outcome }) => (outcome.case === "voucher" ? outcome.value : []));
}
