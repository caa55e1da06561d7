import {
  type AmountDiscount,
  type Discount,
  type DiscountDefinition,
  type Validity,
  parseDiscount,
} from "@scrip/rules";

import type {
  CampaignFacts,
  LineFacts,
  LinePrices,
  OrderFacts,
  Redeemable,
  VoucherFacts,
} from "./facts.ts";

/** Facts for tests, which name only what they are about. */

export const givenOrder = (order: Partial<OrderFacts> = {}): OrderFacts => ({
  amount: null,
  initialAmount: null,
  discountAmount: 0n,
  lines: [],
  metadata: {},
  ...order,
});

export const givenLine = (
  line: Partial<Omit<LineFacts, "prices">> & { readonly prices?: Partial<LinePrices> } = {},
): LineFacts => ({
  productId: null,
  skuId: null,
  quantity: null,
  amount: null,
  initialQuantity: null,
  initialAmount: null,
  discountAmount: 0n,
  discountQuantity: 0n,
  metadata: {},
  productMetadata: {},
  ...line,
  prices: {
    line: null,
    inlineSku: null,
    inlineProduct: null,
    storedSku: null,
    storedProduct: null,
    ...line.prices,
  },
});

/** Lines given as quantity and unit price. */
export const givenLines = (...lines: readonly (readonly [bigint, bigint])[]): LineFacts[] =>
  lines.map(([quantity, price]) => givenLine({ quantity, prices: { line: price } }));

export const unlimited: Validity = {
  startDate: null,
  expirationDate: null,
  timeframe: null,
  daysOfWeek: null,
  hours: null,
};

export function givenDiscount(
  definition: Partial<DiscountDefinition> & Pick<DiscountDefinition, "type">,
): Discount {
  const parsed = parseDiscount({
    effect: null,
    percentOff: null,
    percentOffFormula: null,
    amountOff: null,
    amountOffFormula: null,
    fixedAmount: null,
    fixedAmountFormula: null,
    amountLimit: null,
    aggregatedAmountLimit: null,
    ...definition,
  });
  if (parsed.kind === "violation") throw new Error(parsed.text);
  return parsed.discount;
}

export const percentOff = (text: string): Discount =>
  givenDiscount({ type: "PERCENT", percentOff: text });

export const amountOff = (
  amount: bigint,
  effect: AmountDiscount["effect"] = "APPLY_TO_ORDER",
): Discount => givenDiscount({ type: "AMOUNT", amountOff: amount, effect });

export const givenCampaign = (campaign: Partial<CampaignFacts> = {}): CampaignFacts => ({
  id: "camp_1",
  active: true,
  validity: unlimited,
  categories: [],
  ...campaign,
});

export const givenVoucher = (voucher: Partial<VoucherFacts> = {}): VoucherFacts => ({
  id: `v_${voucher.code ?? "CODE"}`,
  code: "CODE",
  active: true,
  validity: unlimited,
  value: { type: "DISCOUNT_VOUCHER", discount: percentOff("10") },
  quantity: null,
  redeemedQuantity: 0n,
  lockedQuantity: 0n,
  definitionVersion: 1n,
  campaign: null,
  categories: [],
  metadata: {},
  publishCount: 0n,
  ...voucher,
});

export const givenDiscountVoucher = (
  code: string,
  discount: Discount,
  voucher: Partial<VoucherFacts> = {},
): VoucherFacts =>
  givenVoucher({ ...voucher, code, value: { type: "DISCOUNT_VOUCHER", discount } });

export const givenGiftCard = (
  gift: Partial<Extract<VoucherFacts["value"], { type: "GIFT_VOUCHER" }>>,
): VoucherFacts =>
  givenVoucher({
    value: { type: "GIFT_VOUCHER", balance: 0n, lockedCredits: 0n, effect: null, ...gift },
  });

export const redeemableOf = (
  voucher: VoucherFacts,
  asked: Partial<Pick<Redeemable, "credits" | "rewardId">> = {},
): Redeemable => ({
  object: "voucher",
  id: voucher.code,
  voucher,
  credits: null,
  rewardId: null,
  ...asked,
});
