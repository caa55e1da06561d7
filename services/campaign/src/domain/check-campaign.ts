import type { CampaignKind, CampaignType, VoucherType } from "./campaign.ts";
import { voucherTypeOf } from "./campaign.ts";

/** Which of the parts of a new campaign were sent, without their values. */
export type NewCampaign = {
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

/** Tells why a campaign of this kind cannot be made of these parts, in the words of the API. */
export function checkNewCampaign(campaign: NewCampaign): string | null {
  return (
    checkStandalone(campaign) ??
    checkVoucher(campaign) ??
    checkPromotion(campaign) ??
    checkRules(campaign)
  );
}

const checkRules = ({ campaignType, rules }: NewCampaign): string | null =>
  campaignType === "LOYALTY_PROGRAM" && rules
    ? "Property 'validation_rules' does not belong to LOYALTY_PROGRAM campaign"
    : null;

function checkStandalone({ campaignType, kind, vouchersCount, voucher }: NewCampaign) {
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

function checkVoucher({ campaignType, voucher }: NewCampaign): string | null {
  const type = voucherTypeOf(campaignType);
  if (type === null) return null;
  if (voucher.type !== null && voucher.type !== type) {
    return `Vouchers of ${campaignType} campaign must be of type ${type}`;
  }
  const required = (name: string) => `Property '${name}' is required for ${campaignType} campaign`;
  const foreign = (name: string) =>
    `Property '${name}' does not belong to ${campaignType} campaign`;
  if (type === "DISCOUNT_VOUCHER" && !voucher.discount) return required("discount");
  if (type === "GIFT_VOUCHER" && !voucher.giftAmount) return required("gift.amount");
  if (type === "LOYALTY_CARD" && !voucher.loyaltyPoints) return required("loyalty_card.points");
  if (type !== "DISCOUNT_VOUCHER" && voucher.discount) return foreign("discount");
  if (type !== "GIFT_VOUCHER" && voucher.gift) return foreign("gift");
  if (type !== "LOYALTY_CARD" && voucher.loyaltyCard) return foreign("loyalty_card");
  return null;
}

function checkPromotion({ campaignType, vouchersCount, promotion }: NewCampaign): string | null {
  if (campaignType !== "PROMOTION") {
    return promotion ? `Property 'promotion' does not belong to ${campaignType} campaign` : null;
  }
  return vouchersCount === null || vouchersCount === 0n
    ? null
    : "You can not generate vouchers for PROMOTION campaign.";
}

/** Why no voucher can be added to a campaign, or null. */
export function checkAddedVouchers(campaign: {
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
