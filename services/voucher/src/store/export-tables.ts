import { fromBinary } from "@bufbuild/protobuf";
import { type ExportTable, type ExportTables, guardedSql } from "@scrip/exports";
import { CASELESS, unpackBytes } from "@scrip/postgres";
import { CustomerSchema } from "@scrip/proto/scrip/common/v1/customer_pb";
import { OrderSchema } from "@scrip/proto/scrip/common/v1/order_pb";

import { GIFT_ENTRY_ID, REDEMPTION_OF_ENTRY, TOTAL_AFTER } from "./gift-ledger.ts";
import { CODE_KEY, CODE_KEY_OF_ANY, voucherFilters } from "./voucher-filters.ts";

const statesOf = (field: string) => {
  const states = voucherFilters.named[field]?.states;
  return states === undefined ? {} : { states };
};

/** A member of the stored JSON of a discount, whose enum values have a prefix. */
const discount = (field: string): string => `(v.discount ->> '${field}')`;
const enumOf = (sql: string, prefix: string): string => `replace(${sql}, '${prefix}', '')`;

const isMoney = `(u.amount is not null or v.discount ? 'amount_off' or v.discount ? 'fixed_amount')`;
const minorUnits = `coalesce(u.amount, ${discount("amount_off")}::bigint, ${discount("fixed_amount")}::bigint)`;
/** Amounts in major units, percentages, points and units as they are. */
const VALUE = `case when ${isMoney} then round(${minorUnits} / 100.0, 2)
  else coalesce(v.loyalty_points, ${discount("percent_off")}::numeric, ${discount("unit_off")}::numeric) end`;

const FORMULA = `coalesce(${["percent_off", "amount_off", "fixed_amount", "unit_off"]
  .map((field) => discount(`${field}_formula`))
  .join(", ")})`;

const VOUCHERS: ExportTable = {
  from: `from voucher v
         join voucher_usage u on u.project_id = v.project_id and u.voucher_id = v.id
        where v.project_id = $1 and v.deleted_at is null`,
  id: "v.id",
  columns: {
    code: { sql: "v.code", key: CODE_KEY, ...statesOf("code") },
    voucher_type: { sql: "v.type" },
    value: { sql: VALUE },
    discount_type: { sql: enumOf(discount("type"), "DISCOUNT_TYPE_") },
    formula: { sql: FORMULA },
    campaign: { sql: "v.campaign_name" },
    campaign_name: { sql: "v.campaign_name" },
    // The id; the export replaces it by the name.
    category: { sql: "v.category_id" },
    start_date: { sql: "v.start_date", ...statesOf("start_date") },
    expiration_date: { sql: "v.expiration_date", ...statesOf("expiration_date") },
    gift_balance: { sql: "u.balance" },
    redemption_quantity: { sql: "u.quantity", ...statesOf("redemption.quantity") },
    redemption_count: { sql: "u.redeemed_quantity", ...statesOf("redemption") },
    active: { sql: "coalesce(v.active, true)", ...statesOf("active") },
    qr_code: { sql: "('/v1/assets/qr/' || v.asset_id)" },
    bar_code: { sql: "('/v1/assets/barcode/' || v.asset_id)" },
    metadata: { sql: "v.metadata" },
    id: { sql: "v.id" },
    is_referral_code: { sql: "v.is_referral_code" },
    created_at: { sql: "v.created_at" },
    updated_at: { sql: "v.updated_at" },
    validity_timeframe_interval: { sql: "(v.validity_timeframe ->> 'interval')" },
    validity_timeframe_duration: { sql: "(v.validity_timeframe ->> 'duration')" },
    validity_day_of_week: { sql: "v.validity_day_of_week" },
    discount_amount_limit: { sql: `${discount("amount_limit")}::bigint` },
    campaign_id: { sql: "v.campaign_id" },
    additional_info: { sql: "v.additional_info" },
    customer_id: { sql: "v.holder_id" },
    discount_effect: { sql: enumOf(discount("effect"), "DISCOUNT_EFFECT_") },
    discount_unit_type: { sql: discount("unit_type") },
    discount_unit_effect: {
      sql: enumOf("(v.discount -> 'units' -> 0 ->> 'effect')", "DISCOUNT_EFFECT_"),
    },
  },
};

/** By a lookup for each: without statistics, Postgres would read all vouchers for each publication. */
const VOUCHER_OF_PUBLICATION = `lateral (
      select code, code_key from voucher where project_id = pv.project_id and id = pv.voucher_id limit 1) v`;

/** All codes of a publication, in its order. */
const PUBLISHED_CODES = `(
    select coalesce(string_agg(v.code, ',' order by pv.position), p.voucher_code)
      from publication_voucher pv
      left join ${VOUCHER_OF_PUBLICATION} on true
     where pv.project_id = p.project_id and pv.publication_id = p.id)`;

/**
 * The keys of these codes, with the mark of folded keys only in front; a publication that failed has no vouchers, but may
 * have the code of one. `codeKeysOf` returns the same for an operand with one or several codes.
 */
const PUBLISHED_KEYS = `coalesce((
    select replace(string_agg(${CODE_KEY_OF_ANY.sql}, ',' order by pv.position), ',' || chr(1), ',')
      from publication_voucher pv
     cross join ${VOUCHER_OF_PUBLICATION}
     where pv.project_id = p.project_id and pv.publication_id = p.id), (
    select v.code_key
      from voucher v
     where v.project_id = p.project_id and v.code = p.voucher_code
       and v.code_key in (p.voucher_code, chr(1) || lower(p.voucher_code collate ${CASELESS}))), p.voucher_code)`;

const PUBLICATIONS: ExportTable = {
  from: "from publication p where p.project_id = $1",
  id: "p.id",
  columns: {
    voucher_code: {
      sql: PUBLISHED_CODES,
      key: { ...CODE_KEY_OF_ANY, sql: PUBLISHED_KEYS },
      cell: `(select ${guardedSql("codes")}
                from (select ${PUBLISHED_CODES} as codes) as published)`,
    },
    customer_id: { sql: "p.customer_id" },
    date: { sql: "p.created_at" },
    channel: { sql: "p.channel" },
    customer_source_id: { sql: "p.tracking_id" },
    campaign: { sql: "p.campaign_name" },
    campaign_name: { sql: "p.campaign_name" },
    campaign_id: { sql: "p.campaign_id" },
    is_winner: { sql: "null::boolean" },
    metadata: { sql: "p.metadata" },
  },
  orders: {
    id: "p.id",
    voucher_code: "p.voucher_code",
    tracking_id: "p.tracking_id",
    created_at: "p.created_at",
  },
};

const customer = (raw: unknown) => fromBinary(CustomerSchema, unpackBytes(raw as Uint8Array));

const REDEMPTIONS: ExportTable = {
  from: `from (
      select id, 'redemption' as object, created_at, status, customer_id, tracking_id, voucher_id,
             campaign_id, promotion_tier_id, amount, points ->> 'points' as points, metadata, failure_code,
             failure_message, order_message, customer_message, order_amount, project_id
        from redemption where project_id = $1
       union all
      select b.id, 'redemption_rollback', b.created_at, b.status, b.customer_id, b.tracking_id, b.voucher_id,
             b.campaign_id, b.promotion_tier_id, -b.amount, '-' || (b.points ->> 'points'), b.metadata, b.failure_code,
             b.failure_message, b.order_message, r.customer_message, r.order_amount, b.project_id
        from redemption_rollback b
        left join redemption r on r.project_id = b.project_id and r.id = b.redemption_id
       where b.project_id = $1) e
    left join voucher v on v.project_id = e.project_id and v.id = e.voucher_id
    left join promotion_campaign c on c.project_id = e.project_id and c.campaign_id = e.campaign_id
   where e.project_id = $1`,
  id: "e.id",
  columns: {
    id: { sql: "e.id" },
    object: { sql: "e.object" },
    voucher_code: { sql: "v.code", key: CODE_KEY_OF_ANY },
    customer_id: { sql: "e.customer_id" },
    date: { sql: "e.created_at" },
    result: {
      sql: "(case e.status when 'FAILED' then 'FAILURE' else 'SUCCESS' end)",
      states: { $failed: () => "e.status = 'FAILED'" },
    },
    campaign: { sql: "coalesce(v.campaign_name, c.name)" },
    campaign_name: { sql: "coalesce(v.campaign_name, c.name)" },
    campaign_id: { sql: "e.campaign_id" },
    promotion_tier_id: { sql: "e.promotion_tier_id" },
    customer_source_id: {
      sql: "e.customer_message",
      decode: (raw) => customer(raw).sourceId,
    },
    customer_name: { sql: "e.customer_message", decode: (raw) => customer(raw).name },
    tracking_id: { sql: "e.tracking_id" },
    order_id: {
      sql: "e.order_message",
      decode: (raw) => fromBinary(OrderSchema, unpackBytes(raw as Uint8Array)).id,
    },
    order_amount: { sql: "e.order_amount" },
    gift_amount: { sql: "e.amount" },
    loyalty_points: { sql: "e.points::bigint" },
    failure_code: { sql: "e.failure_code" },
    failure_message: { sql: "e.failure_message" },
    metadata: { sql: "e.metadata" },
  },
  orders: { created_at: "e.created_at" },
};

const GIFT_TRANSACTIONS: ExportTable = {
  from: "from voucher_ledger_entry l where l.project_id = $1",
  id: GIFT_ENTRY_ID,
  scopes: { campaign: "l.campaign_id", voucher: "l.voucher_id" },
  columns: {
    id: { sql: GIFT_ENTRY_ID },
    type: {
      sql: `(case when l.redemption_id is null then case when l.amount < 0 then 'CREDITS_REMOVAL' else 'CREDITS_ADDITION' end
                  when l.amount < 0 then 'CREDITS_REDEMPTION' else 'CREDITS_REFUND' end)`,
    },
    source_id: { sql: "l.source_id" },
    reason: { sql: "l.reason" },
    source: { sql: "l.source" },
    balance: { sql: "l.balance_after" },
    amount: { sql: "l.amount" },
    created_at: { sql: "l.created_at" },
    campaign_id: { sql: "l.campaign_id" },
    voucher_id: { sql: "l.voucher_id" },
    related_transaction_id: { sql: "null::text" },
    details: {
      sql: `(select jsonb_strip_nulls(jsonb_build_object(
                      'balance', jsonb_build_object('type', 'gift_voucher', 'total', ${TOTAL_AFTER}, 'object', 'balance',
                        'amount', l.amount, 'balance', l.balance_after,
                        'related_object', jsonb_build_object('id', l.voucher_id, 'type', 'voucher')),
                      'redemption', case when l.redemption_id is not null
                                         then jsonb_build_object('id', l.redemption_id) end,
                      'rollback', case when b.id is not null then jsonb_build_object('id', b.id) end))
               from (select) as entry ${REDEMPTION_OF_ENTRY})`,
    },
  },
};

export const EXPORT_TABLES: ExportTables = {
  voucher: VOUCHERS,
  publication: PUBLICATIONS,
  redemption: REDEMPTIONS,
  voucher_transactions: GIFT_TRANSACTIONS,
};
