import { type Queryable, textArray } from "@scrip/postgres";

import { rowKey } from "../domain/usage.ts";

export type PointsHoldKey = { readonly projectId: string; readonly spendId: string };
export type Claim = PointsHoldKey & { readonly redemptionId: string | null };

const nameValues = (names: readonly PointsHoldKey[]) => [
  textArray(names.map(({ projectId }) => projectId)),
  textArray(names.map(({ spendId }) => spendId)),
];

/** Those of the spends that were used or given up. */
export async function findClaims(
  db: Queryable,
  names: readonly PointsHoldKey[],
): Promise<readonly Claim[]> {
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
    spendId: row.spend_id,
    redemptionId: row.redemption_id,
  }));
}

/** Violates the primary key when a spend was given up meanwhile. */
export async function insertClaims(tx: Queryable, claims: readonly Claim[]): Promise<void> {
  if (claims.length === 0) return;
  const sorted = inOrder(claims);
  await tx.query(
    `insert into points_claim (project_id, spend_id, redemption_id)
     select * from unnest($1::text[], $2::text[], $3::text[])`,
    [...nameValues(sorted), textArray(sorted.map(({ redemptionId }) => redemptionId))],
  );
}

/**
 * Gives spends up, so that no commit can use them any more; one that a commit is using right now is waited
 * for. Answers what became of each.
 */
export async function giveUpSpends(
  db: Queryable,
  names: readonly PointsHoldKey[],
): Promise<readonly Claim[]> {
  if (names.length === 0) return [];
  await db.query(
    `insert into points_claim (project_id, spend_id)
     select * from unnest($1::text[], $2::text[])
         on conflict do nothing`,
    nameValues(inOrder(names)),
  );
  // A statement of its own: it sees what was waited for.
  return findClaims(db, names);
}

/** So that two that claim the same spends wait for each other in one order. */
const inOrder = <Name extends PointsHoldKey>(names: readonly Name[]): readonly Name[] =>
  names.toSorted((a, b) =>
    rowKey(a.projectId, a.spendId) < rowKey(b.projectId, b.spendId) ? -1 : 1,
  );

/**
 * Forgets a chunk of what was given up long ago, when nobody can come with it any more; answers how many.
 */
export async function deleteOldClaims(
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
