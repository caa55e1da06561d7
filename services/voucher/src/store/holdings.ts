import { type Queryable, textArray } from "@scrip/postgres";

export type HoldingsQuery = { readonly projectId: string; readonly customerId: string };

/** A loyalty card or referral code that a customer holds; `initialPoints` is null for a code. */
export type HeldVoucher = {
  readonly voucherId: string;
  readonly campaignId: string | null;
  readonly campaignName: string | null;
  readonly initialPoints: bigint | null;
};

export type StoredHoldings = {
  readonly giftBalance: bigint;
  /** Oldest first. */
  readonly vouchers: readonly HeldVoucher[];
};

type HeldRow = {
  position: bigint;
  voucher_id: string;
  campaign_id: string | null;
  campaign_name: string | null;
  loyalty_points: bigint | null;
};

/** What customers hold, in the order of the queries. */
export async function findHoldings(
  db: Queryable,
  queries: readonly HoldingsQuery[],
): Promise<readonly StoredHoldings[]> {
  const values = [
    textArray(queries.map(({ projectId }) => projectId)),
    textArray(queries.map(({ customerId }) => customerId)),
  ];
  const [{ rows: gifts }, { rows: held }] = await Promise.all([
    db.query<{ position: bigint; balance: bigint }>(
      `select q.position, sum(u.balance)::bigint as balance
         from ${heldBy}
         join voucher_usage u on u.project_id = v.project_id and u.voucher_id = v.id
        where v.type = 'GIFT_VOUCHER'
        group by q.position`,
      values,
    ),
    db.query<HeldRow>(
      `select q.position, v.id as voucher_id, v.campaign_id, v.campaign_name, v.loyalty_points
         from ${heldBy}
        where v.type = 'LOYALTY_CARD' or v.is_referral_code
        order by v.created_at, v.id`,
      values,
    ),
  ]);
  const balances = new Map(gifts.map(({ position, balance }) => [Number(position), balance]));
  const vouchers = Map.groupBy(held, ({ position }) => Number(position));
  return queries.map((_, index) => ({
    giftBalance: balances.get(index + 1) ?? 0n,
    vouchers: (vouchers.get(index + 1) ?? []).map(heldFromRow),
  }));
}

const heldBy = `unnest($1::text[], $2::text[]) with ordinality as q (project_id, customer_id, position)
         join voucher v on v.project_id = q.project_id and v.holder_id = q.customer_id
                       and v.deleted_at is null`;

const heldFromRow = (row: HeldRow): HeldVoucher => ({
  voucherId: row.voucher_id,
  campaignId: row.campaign_id,
  campaignName: row.campaign_name,
  initialPoints: row.loyalty_points,
});
