import type { Queryable } from "@scrip/postgres";

/** A redemption that took points, to compare with the ledger of the loyalty service. */
export type PointsRedemption = {
  readonly id: string;
  readonly cardId: string;
  readonly status: string;
  readonly spendId: string;
  readonly points: bigint;
};

/** The next ones in the order of their ids, or those with these ids. */
export async function readPointsRedemptions(
  db: Queryable,
  projectId: string,
  which: { readonly ids: readonly string[] } | { readonly after: string; readonly limit: number },
): Promise<readonly PointsRedemption[]> {
  const [condition, values] =
    "ids" in which
      ? ["id = any($2::text[])", [which.ids]]
      : ["id > $2 order by id limit $3", [which.after, which.limit]];
  const { rows } = await db.query<PointsRedemption>(
    `select id, voucher_id as "cardId", status, points->>'spend_id' as "spendId",
            (points->>'points')::int8 as points
       from redemption
      where project_id = $1 and points is not null and ${condition}`,
    [projectId, ...values],
  );
  return rows;
}
