import { type FilterFields, jsonMember } from "@scrip/filters";

import { GENERATION_STATUS } from "./campaign-imports.ts";

const started = (now: string): string => `(p.start_date is null or p.start_date <= ${now})`;
const notEnded = (now: string): string =>
  `(p.expiration_date is null or p.expiration_date >= ${now})`;

const states = {
  $active: (now: () => string) => `p.active and ${started(now())} and ${notEnded(now())}`,
  $enabled: () => "p.active",
  $disabled: () => "not p.active",
  $expired: (now: () => string) => `not ${notEnded(now())}`,
  $before_start: (now: () => string) => `not ${started(now())}`,
};

const creation = {
  $failed: () => "p.creation_status = 'FAILED'",
  $in_progress: () => "p.creation_status = 'IN_PROGRESS'",
};

const VOUCHER_TYPE = `case p.campaign_type when 'GIFT_VOUCHERS' then 'GIFT_VOUCHER'
  when 'LOYALTY_PROGRAM' then 'LOYALTY_CARD' when 'PROMOTION' then null else 'DISCOUNT_VOUCHER' end`;

/** Filterable fields of ListCampaigns, over `campaign p` and `category c`. */
export const campaignFilters: FilterFields = {
  named: {
    id: { type: "text", sql: "p.id" },
    campaign_ids: { type: "text", sql: "p.id" },
    campaigns_id: { type: "text", sql: "p.id" },
    name: { type: "text", sql: "p.name" },
    campaigns: { type: "text", sql: "p.name" },
    description: { type: "text", sql: "p.description" },
    campaign_type: { type: "text", sql: "p.campaign_type" },
    type: { type: "text", sql: "p.type" },
    voucher_type: { type: "text", sql: VOUCHER_TYPE },
    active: { type: "boolean", sql: "p.active", states },
    status: { type: "text", sql: "p.creation_status", states: { ...states, ...creation } },
    campaign_status: { type: "text", sql: "p.creation_status", states: { ...states, ...creation } },
    creation_status: { type: "text", sql: "p.creation_status", states: creation },
    vouchers_generation_status: { type: "text", sql: `(${GENERATION_STATUS})` },
    auto_join: { type: "boolean", sql: "p.auto_join" },
    join_once: { type: "boolean", sql: "p.join_once" },
    protected: { type: "boolean", sql: "p.protected" },
    is_referral_code: { type: "boolean", sql: "(p.campaign_type = 'REFERRAL_PROGRAM')" },
    vouchers_count: { type: "number", sql: "p.vouchers_count" },
    category: { type: "text", sql: "c.name" },
    categories: { type: "text", sql: "c.name" },
    category_id: { type: "text", sql: "p.category_id" },
    category_ids: { type: "text", sql: "p.category_id" },
    start_date: { type: "date", sql: "p.start_date", states },
    expiration_date: { type: "date", sql: "p.expiration_date", states },
    validity_timeframe: { type: "json", sql: "p.validity_timeframe" },
    "validity_timeframe.interval": { type: "text", sql: "(p.validity_timeframe ->> 'interval')" },
    "validity_timeframe.duration": { type: "text", sql: "(p.validity_timeframe ->> 'duration')" },
    validity_day_of_week: { type: "array", sql: "p.validity_day_of_week" },
    created_at: { type: "date", sql: "p.created_at" },
    created_date: { type: "date", sql: "p.created_at" },
    updated_at: { type: "date", sql: "p.updated_at" },
  },
  prefixed: { "metadata.": jsonMember("p.metadata") },
};
