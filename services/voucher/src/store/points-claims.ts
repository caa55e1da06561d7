import { type Queryable, textArray } from "@scrip/postgres";

import { rowKey } from "../domain/usage.ts";

export type PointsHoldKey = { readonly projectId: string; readonly holdId: string };
export type HoldClaim = PointsHoldKey & { readonly redemptionId: string | null };

const nameValues = (names: readonly PointsHoldKey[]) => [
  textArray(names.map(({ projectId }) => projectId)),
  textArray(names.map(({ holdId }) => holdId)),
];

/** The claims of those holds that were used or released. */
export async function findHoldClaims(
  db: Queryable,
  names: readonly PointsHoldKey[],
): Promise<readonly HoldClaim[]> {
  if (names.length === 0) return [];
  const { rows } = await db.query<{
    project_id: string;
    spend_id: string;
    redemption_id: string | null;
  }>(
    `select c.project_id, c.spend_id, c.redemption_id
       from unnest($1::text[], $2::text[]) as name (project_id, spend_id)
      cross join lateral (
              select * from points_claim
               where project_id = name.project_id and spend_id = name.spend_id
               limit 1
            ) c`,
    nameValues(names),
  );
  return rows.map((row) => ({
    projectId: row.project_id,
    holdId: row.spend_id,
    redemptionId: row.redemption_id,
  }));
}

/** Violates the primary key when a hold was released concurrently. */
export async function claimHolds(tx: Queryable, claims: readonly HoldClaim[]): Promise<void> {
  if (claims.length === 0) return;
  const sorted = inLockOrder(claims);
  await tx.query(
    `insert into points_claim (project_id, spend_id, redemption_id)
     select * from unnest($1::text[], $2::text[], $3::text[])`,
    [...nameValues(sorted), textArray(sorted.map(({ redemptionId }) => redemptionId))],
  );
}

/**
 * Releases holds, so that no commit can use them any more, and returns the claim of each. Waits for commits that
 * are using one right now.
 */
export async function releaseHolds(
  db: Queryable,
  names: readonly PointsHoldKey[],
): Promise<readonly HoldClaim[]> {
  if (names.length === 0) return [];
  await db.query(
    `insert into points_claim (project_id, spend_id)
     select * from unnest($1::text[], $2::text[])
         on conflict do nothing`,
    nameValues(inLockOrder(names)),
  );
  // A separate statement, so that it sees the commits that the insert waited for.
  return findHoldClaims(db, names);
}

/** So that two transactions that claim the same holds wait for each other in one order. */
const inLockOrder = <Name extends PointsHoldKey>(names: readonly Name[]): readonly Name[] =>
  names.toSorted((a, b) =>
    rowKey(a.projectId, a.holdId) < rowKey(b.projectId, b.holdId) ? -1 : 1,
  );

/**
 * Deletes a chunk of releases that are so old that no commit can refer to them any more, and returns their number.
 */
export async function deleteExpiredClaims(
  db: Queryable,
  keptHours: number,
  limit: number,
): Promise<number> {
  const { rowCount } = await db.query(
    `delete from points_claim
      where ctid in (
              select ctid from points_claim
               where redemption_id is null and created_at < now() - $1::int8 * interval '1 hour'
               limit $2
            )`,
    [keptHours, limit],
  );
  return rowCount ?? 0;
}
