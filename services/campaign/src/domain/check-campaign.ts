import type { CampaignKind, CampaignType, VoucherType } from "./campaign.ts";
import { voucherTypeOf } from "./campaign.ts";

/** Which parts of a new campaign a request includes, without their values. */
export type CampaignParts = {
  readonly campaignType: CampaignType;
  readonly kind: CampaignKind;
  readonly vouchersCount: bigint | null;
  readonly voucher: {
    readonly type: VoucherType | null;
    readonly discount: boolean;
    readonly giftAmount: boolean;
    readonly gift: boolean;
    readonly loyaltyPoints: boolean;
    readonly loyaltyCard: boolean;
    readonly code: boolean;
  };
  readonly promotion: boolean;
  readonly rules: boolean;
};

/** Returns why these parts do not make a campaign, as the error text of the API, or null (docs/campaigns.md#kinds). */
export function checkNewCampaign(campaign: CampaignParts): string | null {
  return (
    checkStandalone(campaign) ??
    checkVoucher(campaign) ??
    checkPromotion(campaign) ??
    checkRules(campaign)
  );
}

const checkRules = ({ campaignType, rules }: CampaignParts): string | null =>
  campaignType === "LOYALTY_PROGRAM" && rules
    ? "Property 'validation_rules' does not belong to LOYALTY_PROGRAM campaign"
    : null;

function checkStandalone({ campaignType, kind, vouchersCount, voucher }: CampaignParts) {
  if (kind !== "STANDALONE") {
    return voucher.code ? "Property 'code' is only for campaigns of type STANDALONE" : null;
  }
  if (campaignType !== "DISCOUNT_COUPONS" && campaignType !== "GIFT_VOUCHERS") {
    return `Campaigns of type STANDALONE cannot be ${campaignType}`;
  }
  if (!voucher.code) return "Property 'code' is required for STANDALONE type campaign";
  return vouchersCount === null || vouchersCount === 1n
    ? null
    : "Campaigns of type STANDALONE hold exactly one voucher";
}

function checkVoucher({ campaignType, voucher }: CampaignParts): string | null {
  const type = voucherTypeOf(campaignType);
  if (type === null) return null;
  if (voucher.type !== null && voucher.type !== type) {
    return `Vouchers of a ${campaignType} campaign must be of type ${type}`;
  }
  const required = (name: string) => `Property '${name}' is required for ${campaignType} campaign`;
  const notOfThisCampaign = (name: string) =>
    `Property '${name}' does not belong to ${campaignType} campaign`;
  if (type === "DISCOUNT_VOUCHER" && !voucher.discount) return required("discount");
  if (type === "GIFT_VOUCHER" && !voucher.giftAmount) return required("gift.amount");
  if (type === "LOYALTY_CARD" && !voucher.loyaltyPoints) return required("loyalty_card.points");
  if (type !== "DISCOUNT_VOUCHER" && voucher.discount) return notOfThisCampaign("discount");
  if (type !== "GIFT_VOUCHER" && voucher.gift) return notOfThisCampaign("gift");
  if (type !== "LOYALTY_CARD" && voucher.loyaltyCard) return notOfThisCampaign("loyalty_card");
  return null;
}

function checkPromotion({ campaignType, vouchersCount, promotion }: CampaignParts): string | null {
  if (campaignType !== "PROMOTION") {
    return promotion ? `Property 'promotion' does not belong to ${campaignType} campaign` : null;
  }
  return vouchersCount === null || vouchersCount === 0n
    ? null
    : "You can not generate vouchers for PROMOTION campaign.";
}

/** Returns why no voucher can be added to the campaign, or null. */
export function checkVoucherCreation(campaign: {
  readonly campaignType: CampaignType;
  readonly kind: CampaignKind;
}): string | null {
  if (campaign.kind === "STANDALONE") {
    return "You can not generate vouchers for STANDALONE type campaign.";
  }
  return campaign.campaignType === "PROMOTION"
    ? "You can not generate vouchers for PROMOTION campaign."
    : null;
}
