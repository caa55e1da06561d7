import { type FilterField, type FilterFields, jsonMember } from "@scrip/filters";
import { type ListSource, readPage } from "@scrip/postgres";

import { keyFrom, keyOf } from "./redemption-keys.ts";
import { CODE_KEY_OF_ANY } from "./voucher-filters.ts";

/** A redemption or a rollback, by its id. */
export type RedemptionEntry = { readonly id: string; readonly isRollback: boolean };

export type EntryListing = {
  readonly projectId: string;
  /** Over `e`, all of which must hold. */
  readonly conditions: readonly string[];
  /** Their values; the first is the project. */
  readonly values: readonly unknown[];
  readonly order: { readonly by: string; readonly descending: boolean };
  readonly page: { readonly limit: number; readonly offset: number };
};

/** Conditions that use the indexes of redemptions; `value` is SQL. */
export const isOfCampaign = (value: string): string => `e.campaign_key = ${keyFrom("$1", value)}`;
export const isOfCustomer = (value: string): string => `e.customer_key = ${keyFrom("$1", value)}`;

/**
 * The id of the newest campaign with this name, or the name itself, which may be an id. Purged campaigns leave their
 * name on the vouchers that record redemptions. Ids sort by creation time, so the newest voucher is one of the newest
 * campaign.
 */
export const newestCampaignNamed = (name: string): string => `coalesce(greatest(
    (select v.campaign_id from voucher v
      where v.project_id = $1 and v.campaign_name = ${name}
      order by v.id desc limit 1),
    (select c.campaign_id from promotion_campaign c
      where c.project_id = $1 and c.name = ${name}
      order by c.campaign_id desc limit 1)), ${name})`;

/**
 * The columns that redemptions and rollbacks share in lists. The views have the rows of the project, and the conditions
 * on them can use the indexes of keys, which those on a table with policies cannot.
 */
const PARTS = [
  `select ${keyOf("r", "campaign_id")} as campaign_key,
           ${keyOf("r", "customer_id")} as customer_key, project_id, id, false as is_rollback, created_at, status, customer_id, tracking_id,
           campaign_id, voucher_id, promotion_tier_id, amount, metadata, failure_code,
           failure_message, channel_id, channel_type, null as reason,
           id as redeemed_id, parent_id as redemption, parent_id
      from redemption_of_project r
     where project_id = $1`,
  `select ${keyOf("b", "campaign_id")} as campaign_key,
           ${keyOf("b", "customer_id")} as customer_key, project_id, id, true as is_rollback, created_at, status, customer_id, tracking_id,
           campaign_id, voucher_id, promotion_tier_id, -amount as amount, metadata, failure_code,
           failure_message, channel_id, channel_type, reason,
           redemption_id as redeemed_id, redemption_id as redemption, null as parent_id
      from redemption_rollback_of_project b
     where project_id = $1`,
];

/** One page of redemptions and rollbacks, and their total number. Ties are broken by id. */
export async function listRedemptionEntries(
  db: ListSource,
  { projectId, conditions, values, order, page }: EntryListing,
): Promise<{ readonly entries: readonly RedemptionEntry[]; readonly total: bigint }> {
  const column = SORTABLE[order.by];
  if (column === undefined) throw new Error(`redemptions cannot be sorted by ${order.by}`);
  const where = conditions.length === 0 ? "" : `where ${conditions.join(" and ")}`;
  const direction = order.descending ? "desc" : "asc";
  // The default order is that of the indexes, which a placement of nulls would exclude.
  const nulls = REQUIRED.has(order.by) ? "" : " nulls last";
  const sorting = `${column} ${direction}${nulls}, e.id ${direction}`;
  // PostgreSQL reads a sorted union from the indexes of its parts only if each part is sorted and limited by itself.
  const newest = `order by ${sorting} limit ${page.offset + page.limit + 1}`;
  const parts = PARTS.map((part) => `(select * from (${part}) e ${where} ${newest})`);
  const { rows, total } = await readPage<{ id: string; is_rollback: boolean }>(db, {
    projectId,
    columns: "e.id, e.is_rollback",
    from: `from (${parts.join(" union all ")}) e`,
    counted: `from (${PARTS.join(" union all ")}) e ${where}`,
    order: sorting,
    values,
    ...page,
  });
  return { entries: rows.map((row) => ({ id: row.id, isRollback: row.is_rollback })), total };
}

/** SQL of a condition on the voucher of an entry: a lookup for each entry would take longer than the vouchers do. */
const withVoucher = (condition: string): string =>
  `e.voucher_id in (select v.id from voucher v where v.project_id = $1 and ${condition})`;

/** The keys of `CODE_KEY_OF_ANY`, as the index of codes has them. */
const hasCodeKey = (keys: string): string =>
  `(v.code_key = any(${keys}) or v.code_key is null and v.code = any(${keys}))`;

/** The same for its campaign, also a deleted one. */
const withCampaign = (condition: string): string =>
  `e.campaign_id in (
     select c.campaign_id
       from (select campaign_id, name from voucher_campaign where project_id = $1
              union all
             select campaign_id, name from promotion_campaign where project_id = $1) c
      where ${condition})`;

/** A value of the voucher of an entry, for sorting. */
const ofVoucher = (sql: string): string =>
  `(select ${sql} from voucher v where v.project_id = e.project_id and v.id = e.voucher_id)`;

/**
 * Orders without an index of their own sort all redemptions that match, which the total has to read anyway. Another
 * index would make every commit slower.
 */
const SORTABLE: Readonly<Record<string, string>> = {
  id: "e.id",
  created_at: "e.created_at",
  voucher_code: ofVoucher("v.code"),
  tracking_id: "e.tracking_id",
  customer_id: "e.customer_id",
};
const REQUIRED: ReadonlySet<string> = new Set(["id", "created_at"]);

/** The related object as in responses: a parent redemption refers to itself. */
const RELATED_OBJECT = {
  id: "coalesce(e.voucher_id, e.promotion_tier_id, e.redeemed_id)",
  type: `case when e.voucher_id is not null then 'voucher'
              when e.promotion_tier_id is not null then 'promotion_tier'
              else 'redemption' end`,
};

const campaignName: FilterField = { type: "text", sql: "c.name", within: withCampaign };

const result = "case e.status when 'FAILED' then 'FAILURE' else 'SUCCESS' end";

/** The fields of a redemption that a listing may be filtered by. */
export const redemptionFilters: FilterFields = {
  named: {
    id: { type: "text", sql: "e.id" },
    date: { type: "date", sql: "e.created_at" },
    created_at: { type: "date", sql: "e.created_at" },
    result: { type: "text", sql: result, states: { $failed: () => "e.status = 'FAILED'" } },
    status: { type: "text", sql: "e.status", states: { $failed: () => "e.status = 'FAILED'" } },
    customer_id: { type: "text", sql: "e.customer_id" },
    tracking_id: { type: "text", sql: "e.tracking_id" },
    campaign: campaignName,
    campaign_name: campaignName,
    campaign_id: { type: "text", sql: "e.campaign_id" },
    voucher_id: { type: "text", sql: "e.voucher_id" },
    voucher_code: {
      type: "text",
      sql: "v.code",
      key: { ...CODE_KEY_OF_ANY, isAny: hasCodeKey },
      within: withVoucher,
    },
    promotion_tier_id: { type: "text", sql: "e.promotion_tier_id" },
    related_object_id: { type: "text", sql: RELATED_OBJECT.id },
    related_object_type: { type: "text", sql: RELATED_OBJECT.type },
    related_object_parent_id: { type: "text", sql: "e.campaign_id" },
    redemption: { type: "text", sql: "e.redemption" },
    parent_redemption_id: { type: "text", sql: "e.parent_id" },
    object: {
      type: "text",
      sql: "case when e.is_rollback then 'redemption_rollback' else 'redemption' end",
    },
    amount: { type: "number", sql: "e.amount" },
    gift_amount: { type: "number", sql: "e.amount" },
    failure_code: { type: "text", sql: "e.failure_code" },
    failure_message: { type: "text", sql: "e.failure_message" },
    channel_id: { type: "text", sql: "e.channel_id" },
    channel_type: { type: "text", sql: "e.channel_type" },
    reason: { type: "text", sql: "e.reason" },
  },
  prefixed: { "metadata.": jsonMember("e.metadata") },
};
