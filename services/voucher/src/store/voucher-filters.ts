import { type FilterField, type FilterFields, jsonMember, type TextRange } from "@scrip/filters";

import { codeKeysOf } from "../domain/voucher.ts";

const enabled = "v.active is not false";
const started = (now: string): string => `(v.start_date is null or v.start_date <= ${now})`;
const notEnded = (now: string): string =>
  `(v.expiration_date is null or v.expiration_date >= ${now})`;

const timeStates = {
  $active: (now: () => string) => `${enabled} and ${started(now())} and ${notEnded(now())}`,
  $enabled: () => enabled,
  $disabled: () => "v.active is false",
  $expired: (now: () => string) => `not ${notEnded(now())}`,
  $before_start: (now: () => string) => `not ${started(now())}`,
};

const usageStates = {
  $redeemed: () => "u.redeemed_quantity > 0",
  $redeemable: () => "u.quantity is null or u.redeemed_quantity < u.quantity",
};

const states = { ...timeStates, ...usageStates };

/** Codes are found by their key: some projects ignore the letter case. */
export const CODE_KEY = { sql: "v.code_key", of: codeKeysOf };

/** As above, also for vouchers that were deleted for good, which have no key. */
export const CODE_KEY_OF_ANY = { sql: "coalesce(v.code_key, v.code)", of: codeKeysOf };

const code: FilterField = { type: "text", sql: "v.code", key: CODE_KEY, states };

/** The fields of a voucher that a listing may be filtered by, over `voucher v` and `voucher_usage u`. */
export const voucherFilters: FilterFields = {
  named: {
    id: { type: "text", sql: "v.id" },
    code,
    type: { type: "text", sql: "v.type" },
    active: { type: "boolean", sql: "v.active", states },
    campaign: { type: "text", sql: "v.campaign_name" },
    campaign_name: { type: "text", sql: "v.campaign_name" },
    campaign_type: { type: "text", sql: "v.campaign_type" },
    campaign_id: { type: "text", sql: "v.campaign_id" },
    category_id: { type: "text", sql: "v.category_id" },
    additional_info: { type: "text", sql: "v.additional_info" },
    created_at: { type: "date", sql: "v.created_at" },
    updated_at: { type: "date", sql: "v.updated_at" },
    start_date: { type: "date", sql: "v.start_date", states: timeStates },
    expiration_date: { type: "date", sql: "v.expiration_date", states: timeStates },
    validity_day_of_week: { type: "array", sql: "v.validity_day_of_week" },
    is_referral_code: { type: "boolean", sql: "v.is_referral_code" },
    holder_id: { type: "text", sql: "v.holder_id" },
    referrer_id: { type: "text", sql: "v.referrer_id" },
    "discount.type": { type: "text", sql: "(v.discount ->> 'type')" },
    "discount.percent_off": { type: "number", sql: "(v.discount ->> 'percent_off')::numeric" },
    "discount.amount_off": { type: "number", sql: "(v.discount ->> 'amount_off')::numeric" },
    "gift.amount": { type: "number", sql: "u.amount" },
    "gift.balance": { type: "number", sql: "u.balance" },
    "loyalty_card.points": { type: "number", sql: "v.loyalty_points" },
    redemption: { type: "number", sql: "u.redeemed_quantity", states: usageStates },
    "redemption.quantity": { type: "number", sql: "u.quantity", states: usageStates },
    "redemption.redeemed_quantity": {
      type: "number",
      sql: "u.redeemed_quantity",
      states: usageStates,
    },
    "redemption.redeemed_amount": { type: "number", sql: "u.redeemed_amount" },
  },
  prefixed: { "metadata.": jsonMember("v.metadata") },
};

/** As above, where these texts are known to be the beginnings of codes in these ranges only. */
export const voucherFiltersWith = (
  ranges: ReadonlyMap<string, readonly TextRange[]>,
): FilterFields => ({
  ...voucherFilters,
  named: {
    ...voucherFilters.named,
    code: { ...code, beginnings: { sql: CODE_KEY.sql, of: (text) => ranges.get(text) } },
  },
});
