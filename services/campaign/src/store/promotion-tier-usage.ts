import {
  batchOf,
  buildStatement,
  column,
  type ColumnTable,
  type Queryable,
  summedAssignments,
} from "@scrip/postgres";

/** Number and sums of the redemptions of a tier, less rollbacks; amounts are minor units. */
export type TierUsage = {
  readonly redemptions: bigint;
  /** Amount of the orders before discounts. */
  readonly ordersAmount: bigint;
  readonly discountedAmount: bigint;
};

export type TierRef = { readonly projectId: string; readonly tierId: string };

/** The columns of `promotion_tier_usage u`, left-joined: all null for a tier without redemptions. */
export type TierUsageColumns = {
  u_redemptions: bigint | null;
  u_orders_amount: bigint | null;
  u_discounted_amount: bigint | null;
};

export const TIER_USAGE_COLUMNS = `u.redemptions as u_redemptions,
  u.orders_amount as u_orders_amount, u.discounted_amount as u_discounted_amount`;

export const tierUsageFromColumns = (row: TierUsageColumns): TierUsage => ({
  redemptions: row.u_redemptions ?? 0n,
  ordersAmount: row.u_orders_amount ?? 0n,
  discountedAmount: row.u_discounted_amount ?? 0n,
});

const NO_USAGE: TierUsage = { redemptions: 0n, ordersAmount: 0n, discountedAmount: 0n };

/** The current usage of each tier, in the order of the ids. */
export async function findTierUsages(
  db: Queryable,
  projectId: string,
  ids: readonly string[],
): Promise<readonly TierUsage[]> {
  const { rows } = await db.query<TierUsageColumns & { tier_id: string }>(
    `select u.tier_id, ${TIER_USAGE_COLUMNS}
       from promotion_tier_usage u
      where u.project_id = $1 and u.tier_id = any($2::text[])`,
    [projectId, ids],
  );
  const found = new Map(rows.map((row) => [row.tier_id, tierUsageFromColumns(row)]));
  return ids.map((id) => found.get(id) ?? NO_USAGE);
}

/**
 * Returns the tiers that exist and prevents their deletion until the transaction ends. Locks are taken
 * in key order, so that concurrent batches do not deadlock.
 */
export async function shareLockTiersOfProjects(
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

/** Adds to the usage of tiers, each listed once; rollbacks are negative. */
export async function addTierUsage(
  tx: Queryable,
  usages: readonly (TierRef & TierUsage)[],
): Promise<void> {
  await tx.query(addStatement({ usages }));
}

const sumColumns: ColumnTable<TierUsage> = {
  redemptions: column.int8(({ redemptions }) => redemptions),
  orders_amount: column.int8(({ ordersAmount }) => ordersAmount),
  discounted_amount: column.int8(({ discountedAmount }) => discountedAmount),
};

const addStatement = buildStatement({
  parts: {
    usages: batchOf<TierRef & TierUsage>({
      project_id: column.text(({ projectId }) => projectId),
      tier_id: column.text(({ tierId }) => tierId),
      ...sumColumns,
    }),
  },
  text: ({ usages }) => `
    insert into promotion_tier_usage as known (${usages.columns})
    select ${usages.columns} from ${usages.rows("counted")}
     order by project_id, tier_id
        on conflict (project_id, tier_id) do update
       set ${summedAssignments(sumColumns, "known")}`,
});
