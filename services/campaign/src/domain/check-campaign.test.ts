import { describe, expect, test } from "vitest";

import { checkVoucherCreation, checkNewCampaign, type CampaignParts } from "./check-campaign.ts";

const nothing: CampaignParts["voucher"] = {
  type: null,
  discount: false,
  gift: false,
  giftAmount: false,
  loyaltyCard: false,
  loyaltyPoints: false,
  code: false,
};
const coupon = { ...nothing, discount: true };
const gift = { ...nothing, gift: true, giftAmount: true };
const card = { ...nothing, loyaltyCard: true, loyaltyPoints: true };

const newCampaign = (more: Partial<CampaignParts>): CampaignParts => ({
  campaignType: "DISCOUNT_COUPONS",
  kind: "STATIC",
  vouchersCount: null,
  voucher: coupon,
  promotion: false,
  rules: false,
  ...more,
});

describe("checkNewCampaign", () => {
  test.each<[string, Partial<CampaignParts>]>([
    ["coupons", {}],
    ["coupons with a rule", { rules: true }],
    ["coupons with their type", { voucher: { ...coupon, type: "DISCOUNT_VOUCHER" } }],
    ["gift cards", { campaignType: "GIFT_VOUCHERS", voucher: gift }],
    ["loyalty cards", { campaignType: "LOYALTY_PROGRAM", voucher: card, vouchersCount: 100n }],
    ["referral codes", { campaignType: "REFERRAL_PROGRAM" }],
    ["a promotion", { campaignType: "PROMOTION", voucher: nothing, promotion: true }],
    ["a promotion without vouchers", { campaignType: "PROMOTION", vouchersCount: 0n }],
    ["one public code", { kind: "STANDALONE", voucher: { ...coupon, code: true } }],
    [
      "one public gift card",
      {
        campaignType: "GIFT_VOUCHERS",
        kind: "STANDALONE",
        voucher: { ...gift, code: true },
        vouchersCount: 1n,
      },
    ],
  ])("accepts %s", (_name, parts) => {
    expect(checkNewCampaign(newCampaign(parts))).toBeNull();
  });

  test.each<[string, Partial<CampaignParts>, string]>([
    ["a STANDALONE campaign without a code", { kind: "STANDALONE" }, "'code' is required"],
    [
      "a STANDALONE campaign with two codes",
      { kind: "STANDALONE", voucher: { ...coupon, code: true }, vouchersCount: 2n },
      "exactly one",
    ],
    [
      "a public loyalty card",
      { campaignType: "LOYALTY_PROGRAM", kind: "STANDALONE", voucher: { ...card, code: true } },
      "cannot be LOYALTY_PROGRAM",
    ],
    ["coupons with a code", { voucher: { ...coupon, code: true } }, "only for campaigns of type"],
    ["coupons without a discount", { voucher: nothing }, "'discount' is required"],
    ["coupons with a gift", { voucher: { ...coupon, gift: true } }, "'gift' does not belong"],
    [
      "coupons with points",
      { voucher: { ...coupon, loyaltyCard: true } },
      "'loyalty_card' does not",
    ],
    [
      "gift cards with a discount",
      { campaignType: "GIFT_VOUCHERS", voucher: { ...gift, discount: true } },
      "'discount' does not belong",
    ],
    [
      "gift cards without an amount",
      { campaignType: "GIFT_VOUCHERS", voucher: { ...nothing, gift: true } },
      "'gift.amount' is required",
    ],
    [
      "loyalty cards without points",
      { campaignType: "LOYALTY_PROGRAM", voucher: { ...nothing, loyaltyCard: true } },
      "'loyalty_card.points' is required",
    ],
    [
      "coupons of another type",
      { voucher: { ...coupon, type: "LOYALTY_CARD" } },
      "must be of type DISCOUNT_VOUCHER",
    ],
    [
      "loyalty cards with a rule",
      { campaignType: "LOYALTY_PROGRAM", voucher: card, rules: true },
      "'validation_rules' does not belong",
    ],
    ["coupons with tiers", { promotion: true }, "'promotion' does not belong"],
    [
      "a promotion with vouchers",
      { campaignType: "PROMOTION", voucher: nothing, vouchersCount: 1n },
      "can not generate vouchers",
    ],
  ])("rejects %s", (_name, parts, text) => {
    expect(checkNewCampaign(newCampaign(parts))).toContain(text);
  });
});

test("checkVoucherCreation accepts campaigns with vouchers unless they are STANDALONE", () => {
  const campaignType = "DISCOUNT_COUPONS";
  expect(checkVoucherCreation({ campaignType, kind: "STATIC" })).toBeNull();
  expect(checkVoucherCreation({ campaignType, kind: "AUTO_UPDATE" })).toBeNull();
  expect(checkVoucherCreation({ campaignType, kind: "STANDALONE" })).toContain("STANDALONE");
  expect(checkVoucherCreation({ campaignType: "PROMOTION", kind: "STATIC" })).toContain(
    "PROMOTION",
  );
});
