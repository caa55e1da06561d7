import { boundedSum, type Queryable } from "@scrip/postgres";

import { keyFrom, keyOf } from "./redemption-keys.ts";
import { USAGE_OF_VOUCHER } from "./voucher-rows.ts";

/** What a summary adds up: a campaign, and when it happened; instants are epoch milliseconds, `until` is exclusive. */
export type SummaryScope = {
  readonly projectId: string;
  readonly campaignId: string;
  readonly from: number | null;
  readonly until: number | null;
};

export type Figures = Readonly<Record<string, bigint>>;

type Query = { readonly text: string; readonly needs: "always" | "codes" | "gifts" | "referrals" };

/** `$1` is the project, `$2` the campaign, `$3` and `$4` the range. Each row is one object of figures. */
const IN_RANGE = (instant: string): string =>
  `($3::timestamptz is null or ${instant} >= $3) and ($4::timestamptz is null or ${instant} < $4)`;
/** As the indexes on redemptions and rollbacks express it. */
const OF_CAMPAIGN = (row: string): string =>
  `${keyOf(row, "campaign_id")} = ${keyFrom("$1", "$2")} and ${row}.campaign_id is not null`;
const SUM = (value: string, filter = "true"): string =>
  boundedSum(`sum(${value}) filter (where ${filter})`);

const QUERIES: readonly Query[] = [
  {
    needs: "always",
    text: `
      select count(*) as redemptions,
             count(*) filter (where r.status <> 'FAILED') as redemptions_succeeded,
             count(*) filter (where r.status = 'FAILED') as redemptions_failed,
             ${SUM("r.order_amount", "r.status <> 'FAILED'")} as orders_amount,
             ${SUM("r.discounted_amount", "r.status <> 'FAILED'")} as discounted_amount
        from redemption r
       where ${OF_CAMPAIGN("r")} and ${IN_RANGE("r.created_at")}`,
  },
  {
    needs: "always",
    text: `
      select count(*) as rollbacks,
             count(*) filter (where b.status = 'SUCCEEDED') as rollbacks_succeeded,
             count(*) filter (where b.status = 'FAILED') as rollbacks_failed,
             ${SUM("r.order_amount", "b.status = 'SUCCEEDED'")} as orders_rolledback_amount,
             ${SUM("r.discounted_amount", "b.status = 'SUCCEEDED'")} as rolledback_discounted_amount
        from redemption_rollback b
        left join redemption r on r.project_id = b.project_id and r.id = b.redemption_id
       where ${OF_CAMPAIGN("b")} and ${IN_RANGE("b.created_at")}`,
  },
  {
    needs: "codes",
    text: `
      select count(*) filter (where ${IN_RANGE("v.created_at")}) as vouchers_created,
             count(*) filter (where v.deleted_at is not null and ${IN_RANGE("v.deleted_at")}) as vouchers_deleted,
             ${SUM("v.loyalty_points", IN_RANGE("v.created_at"))} as created_vouchers_points
        from voucher v
       where v.project_id = $1 and v.campaign_id = $2`,
  },
  {
    needs: "codes",
    text: `
      select count(*) as publications,
             count(*) filter (where p.result = 'SUCCESS') as publications_succeeded,
             count(*) filter (where p.result = 'FAILURE') as publications_failed
        from publication p
       where p.project_id = $1 and p.campaign_id = $2 and ${IN_RANGE("p.created_at")}`,
  },
  {
    needs: "gifts",
    text: `
      select ${SUM("l.amount", "l.redemption_id is null and l.version = 1")} as created_vouchers_amount,
             ${SUM("l.amount", "l.redemption_id is null and l.version > 1 and l.amount > 0")} as amount_added,
             ${SUM("-l.amount", "l.redemption_id is null and l.version > 1 and l.amount < 0")} as amount_subtracted,
             ${SUM("-l.amount", "l.redemption_id is not null and l.amount < 0")} as amount_redeemed,
             ${SUM("l.amount", "l.redemption_id is not null and l.amount > 0")} as amount_rolledback
        from voucher_ledger_entry l
       where l.project_id = $1 and l.campaign_id = $2 and ${IN_RANGE("l.created_at")}`,
  },
  {
    needs: "gifts",
    text: `
      select ${SUM("u.balance")} as amount_deleted
        from voucher v
        ${USAGE_OF_VOUCHER}
       where v.project_id = $1 and v.campaign_id = $2 and v.deleted_at is not null
         and ${IN_RANGE("v.deleted_at")}`,
  },
  {
    needs: "referrals",
    text: `
      select count(distinct c.referee_id) as referred_customers
        from referral_conversion c
       where c.project_id = $1 and c.campaign_id = $2 and ${IN_RANGE("c.converted_at")}`,
  },
];

/** The figures of a campaign that this service's tables hold. One query at a time: a summary never takes several connections. */
export async function findFigures(
  db: Queryable,
  { projectId, campaignId, from, until }: SummaryScope,
  needs: ReadonlySet<Query["needs"]>,
): Promise<Figures> {
  const values = [projectId, campaignId, dateOf(from), dateOf(until)];
  const found: Figures[] = [];
  for (const query of QUERIES.filter((each) => needs.has(each.needs))) {
    const { rows } = await db.query<Record<string, bigint>>(query.text, values);
    found.push(rows[0] ?? {});
  }
  return Object.assign({}, ...found);
}

const dateOf = (instant: number | null): Date | null =>
  instant === null ? null : new Date(instant);
