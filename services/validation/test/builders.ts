import {
  type AmountDiscount,
  type Discount,
  type DiscountDefinition,
  type Metadata,
  type MoneyDiscount,
  type ScopeEntryDefinition,
  type ValidationRule,
  type ValidationRuleDefinition,
  type Validity,
  parseDiscount,
  parseValidationRule,
} from "@scrip/rules";

import type { SelectedLine } from "../src/domain/applicable-items/item-selection.ts";
import { decide } from "../src/domain/decide.ts";
import { type DecisionRequest } from "../src/domain/decision/decision-request.ts";
import type {
  InapplicableRedeemable,
  EvaluatedRedeemable,
} from "../src/domain/decision/decision.ts";
import type { CatalogueItem } from "../src/domain/input/catalogue-item.ts";
import type { CustomerSnapshot } from "../src/domain/input/customer.ts";
import type { LineSnapshot, LinePrices, OrderSnapshot } from "../src/domain/input/order.ts";
import type { TierRedeemable, VoucherRedeemable } from "../src/domain/input/redeemable.ts";
import type {
  CampaignSnapshot,
  TierSnapshot,
  VoucherSnapshot,
} from "../src/domain/input/voucher.ts";
import type { OrderState } from "../src/domain/order/order-state.ts";
import { DEFAULT_STACKING_RULES } from "../src/domain/stacking/stacking-rules.ts";

/** Builders of domain input with defaults: tests set only the fields that they are about. */

export const buildOrder = (order: Partial<OrderSnapshot> = {}): OrderSnapshot => ({
  amount: null,
  initialAmount: null,
  discountAmount: 0n,
  lines: [],
  metadata: {},
  ...order,
});

export const buildLine = (
  line: Partial<Omit<LineSnapshot, "prices">> & { readonly prices?: Partial<LinePrices> } = {},
): LineSnapshot => ({
  productId: null,
  skuId: null,
  productSourceId: null,
  skuSourceId: null,
  collections: [],
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

/** Lines from pairs of quantity and unit price. */
export const buildLines = (...lines: readonly (readonly [bigint, bigint])[]): LineSnapshot[] =>
  lines.map(([quantity, price]) => buildLine({ quantity, prices: { line: price } }));

export const unlimited: Validity = {
  startDate: null,
  expirationDate: null,
  timeframe: null,
  daysOfWeek: null,
  hours: null,
};

export type DiscountInput = Partial<DiscountDefinition> & Pick<DiscountDefinition, "type">;

export function buildDiscount(
  definition: DiscountInput & { type: MoneyDiscount["type"] },
): MoneyDiscount;
export function buildDiscount(definition: DiscountInput): Discount;
export function buildDiscount(definition: DiscountInput): Discount {
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
    unitOff: null,
    unitOffFormula: null,
    unitType: null,
    units: [],
    ...definition,
  });
  if (parsed.kind === "violation") throw new Error(parsed.text);
  return parsed.discount;
}

export const percentOff = (text: string): MoneyDiscount =>
  buildDiscount({ type: "PERCENT", percentOff: text });

export const amountOff = (
  amount: bigint,
  effect: AmountDiscount["effect"] = "APPLY_TO_ORDER",
): MoneyDiscount => buildDiscount({ type: "AMOUNT", amountOff: amount, effect });

/** Whole lines, as an effect without rules selects them, in this order. */
export const wholeLines = (
  { lines }: OrderState,
  indices: readonly number[] = [...lines.keys()],
): readonly SelectedLine[] =>
  indices.map((index) => {
    const units = lines[index]?.quantity ?? 0n;
    return { index, units, sequence: { first: 1n, step: 1n, count: units }, entry: null };
  });

export const buildCampaign = (campaign: Partial<CampaignSnapshot> = {}): CampaignSnapshot => ({
  id: "camp_1",
  name: "Campaign",
  active: true,
  validity: unlimited,
  categories: [],
  metadata: {},
  rules: [],
  ...campaign,
});

export const buildVoucher = (voucher: Partial<VoucherSnapshot> = {}): VoucherSnapshot => ({
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
  publicationMetadata: null,
  rules: [],
  isReferralCode: false,
  holderId: null,
  ...voucher,
});

export const buildDiscountVoucher = (
  code: string,
  discount: Discount,
  voucher: Partial<VoucherSnapshot> = {},
): VoucherSnapshot =>
  buildVoucher({ ...voucher, code, value: { type: "DISCOUNT_VOUCHER", discount } });

export const buildGiftCard = (
  gift: Partial<Extract<VoucherSnapshot["value"], { type: "GIFT_VOUCHER" }>>,
): VoucherSnapshot =>
  buildVoucher({
    value: { type: "GIFT_VOUCHER", balance: 0n, lockedCredits: 0n, effect: null, ...gift },
  });

export const voucherRedeemable = (
  voucher: VoucherSnapshot,
  request: Partial<Pick<VoucherRedeemable, "credits" | "reward">> = {},
): VoucherRedeemable => ({
  object: "voucher",
  id: voucher.code,
  voucher,
  credits: null,
  reward: null,
  ...request,
});

export const buildTier = (tier: Partial<TierSnapshot> = {}): TierSnapshot => ({
  id: "promo_1",
  name: "Tier",
  banner: null,
  active: true,
  validity: unlimited,
  discount: percentOff("10"),
  campaign: null,
  categories: [],
  metadata: {},
  hierarchy: 1,
  rules: [],
  ...tier,
});

export const tierRedeemable = (tier: TierSnapshot): TierRedeemable => ({
  object: "promotion_tier",
  id: tier.id,
  tier,
});

export const buildCustomer = (customer: Partial<CustomerSnapshot> = {}): CustomerSnapshot => ({
  id: null,
  sourceId: null,
  metadata: {},
  birthdate: null,
  segments: [],
  loyaltyTiers: [],
  ...customer,
});

/** Loaded input of a decision: no earlier redemptions, an empty catalogue. */
export const EMPTY_INPUT = {
  counts: new Map<string, bigint>(),
  catalogue: new Map<string, CatalogueItem>(),
  caller: { channelId: "app_1", userId: null },
  explain: false,
} as const;

export function buildRule(
  id: string,
  rules: object,
  definition: Partial<ValidationRuleDefinition> = {},
): ValidationRule {
  const parsed = parseValidationRule({
    id,
    rules: rules as Metadata,
    bundleRules: null,
    applicableTo: null,
    errorMessage: null,
    ...definition,
  });
  if (parsed.kind === "violation") throw new Error(parsed.text);
  return parsed.rule;
}

/** A validation rule with a single condition. */
export const buildSingleRule = (
  name: string,
  conditions: object,
  more: object = {},
): ValidationRule => buildRule("val_1", { 1: { name, conditions, ...more } });

export const buildScopeEntry = (
  entry: Partial<ScopeEntryDefinition> = {},
): ScopeEntryDefinition => ({
  object: "product",
  id: "prod_1",
  sourceId: null,
  productId: null,
  strict: null,
  effect: null,
  target: null,
  skipInitially: null,
  repeat: null,
  price: null,
  priceFormula: null,
  quantityLimit: null,
  aggregatedQuantityLimit: null,
  amountLimit: null,
  aggregatedAmountLimit: null,
  budgets: [],
  ...entry,
});

/** 2026-11-21 12:00 in Warsaw, a Saturday. */
export const NOW = 1_795_258_800_000;

export const buildRequest = (request: Partial<DecisionRequest>): DecisionRequest => ({
  redeemables: [],
  order: null,
  customer: null,
  metadata: {},
  time: { now: NOW, timeZone: "Europe/Warsaw" },
  stacking: DEFAULT_STACKING_RULES,
  ...EMPTY_INPUT,
  ...request,
});

/** Decides a request and returns its evaluated redeemables; throws for an invalid request. */
export function evaluateRedeemables(
  request: Partial<DecisionRequest>,
): readonly EvaluatedRedeemable[] {
  const decision = decide(buildRequest(request));
  if (decision.kind !== "decided") throw new Error(decision.rejection.key);
  return decision.redeemables;
}

export function evaluateRejected(request: Partial<DecisionRequest>): InapplicableRedeemable {
  const [evaluated] = evaluateRedeemables(request);
  if (evaluated?.status !== "INAPPLICABLE")
    throw new Error(`unexpected status ${evaluated?.status}`);
  return evaluated;
}
