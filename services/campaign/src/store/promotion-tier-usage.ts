import type { Queryable } from "@scrip/postgres";

/** What a tier did; amounts are minor units. */
export type TierUsage = {
  readonly redemptions: bigint;
  /** What its orders were worth before discounts. */
  readonly ordersAmount: bigint;
  readonly discountedAmount: bigint;
};

export type TierRef = { readonly projectId: string; readonly tierId: string };

/** The columns of `promotion_tier_usage u`, left-joined: all null of a tier that did nothing yet. */
export type TierUsageColumns = {
  u_redemptions: bigint | null;
  u_orders_amount: bigint | null;
  u_discounted_amount: bigint | null;
};

export const TIER_USAGE_COLUMNS = `u.redemptions as u_redemptions,
  u.orders_amount as u_orders_amount, u.discounted_amount as u_discounted_amount`;

export const fromTierUsageColumns = (row: TierUsageColumns): TierUsage => ({
  redemptions: row.u_redemptions ?? 0n,
  ordersAmount: row.u_orders_amount ?? 0n,
  discountedAmount: row.u_discounted_amount ?? 0n,
});

/**
 * Answers which of the tiers are still there, and keeps them from being deleted until the transaction
 * ends. All batches lock in one order, so none of them waits for another in a circle.
 */
export async function holdTiersOfAll(
  tx: Queryable,
  tiers: readonly TierRef[],
): Promise<readonly TierRef[]> {
  const { rows } = await tx.query<{ project_id: string; id: string }>(
    `select project_id, id
       from promotion_tier
      where (project_id, id) in (select * from unnest($1::text[], $2::text[]))
      order by project_id, id
        for key share`,
    [tiers.map(({ projectId }) => projectId), tiers.map(({ tierId }) => tierId)],
  );
  return rows.map((row) => ({ projectId: row.project_id, tierId: row.id }));
}

/** Each tier once; what is below zero lowers. */
export async function addTierUsages(
  tx: Queryable,
  usages: readonly (TierRef & TierUsage)[],
): Promise<void> {
  await tx.query(
    `insert into promotion_tier_usage as known
            (project_id, tier_id, redemptions, orders_amount, discounted_amount)
     select *
       from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[])
              as counted (project_id, tier_id, redemptions, orders_amount, discounted_amount)
      order by project_id, tier_id
         on conflict (project_id, tier_id) do update
        set redemptions = known.redemptions + excluded.redemptions,
            orders_amount = known.orders_amount + excluded.orders_amount,
            discounted_amount = known.discounted_amount + excluded.discounted_amount`,
    [
      usages.map(({ projectId }) => projectId),
      usages.map(({ tierId }) => tierId),
      usages.map(({ redemptions }) => redemptions),
      usages.map(({ ordersAmount }) => ordersAmount),
      usages.map(({ discountedAmount }) => discountedAmount),
    ],
  );
}
