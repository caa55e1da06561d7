import { type Database, type Queryable, unpackBytes } from "@scrip/postgres";

export type StoredExplanation = {
  /** Id of the redemption. */
  readonly id: string;
  /** Either this or `tierId`. */
  readonly code: string | null;
  readonly tierId: string | null;
  /** scrip.common.v1.Explanation in its binary form. */
  readonly explanation: Uint8Array;
};

/** The explanations of a redemption, or of the parts of a parent in their order. */
export async function findExplanations(
  db: Queryable,
  projectId: string,
  redemptionId: string,
): Promise<readonly StoredExplanation[]> {
  const { rows } = await db.query<{
    id: string;
    code: string | null;
    promotion_tier_id: string | null;
    explanation: Uint8Array;
  }>(
    `select r.id, v.code, r.promotion_tier_id, r.explanation
       from (select * from redemption where project_id = $1 and id = $2
              union all
             select * from redemption where project_id = $1 and parent_id = $2) r
       left join voucher v on v.project_id = r.project_id and v.id = r.voucher_id
      where r.explanation is not null
      order by r.id`,
    [projectId, redemptionId],
  );
  return rows.map((row) => ({
    id: row.id,
    code: row.code,
    tierId: row.promotion_tier_id,
    explanation: unpackBytes(row.explanation),
  }));
}

/** The projects of a run. Of more, a later run finds the others: what a run has removed is no longer due. */
const MAX_PROJECTS = 1_000;

/**
 * Projects that may have explanations of redemptions from before a time, failed redemptions included. Projects without a
 * removal come first.
 */
export async function findRemovals(db: Queryable, before: string): Promise<readonly string[]> {
  const { rows } = await db.query<{ project_id: string }>(
    `select p.project_id
       from project p
       left join explanation_removal e on e.project_id = p.project_id
      where (e.removed_to is null or e.removed_to < $1)
        and exists (select from redemption r where r.project_id = p.project_id)
      order by e.removed_to nulls first, p.project_id
      limit $2`,
    [before, MAX_PROJECTS],
  );
  return rows.map((row) => row.project_id);
}

export type Removal = {
  readonly projectId: string;
  /** Time part of the id of the first redemption whose explanation stays. */
  readonly before: string;
  /** About how many redemptions a chunk has. */
  readonly limit: number;
};

export type RemovedChunk = { readonly removed: number; readonly mayBeMore: boolean };

/**
 * Removes the explanations of the next chunk of redemptions, and records how far it came. Does nothing while another
 * process works on the project.
 */
export const removeExplanations = (db: Database, removal: Removal): Promise<RemovedChunk> =>
  db.transaction(async (tx) => {
    const after = await lockProgress(tx, removal);
    return after === undefined
      ? { removed: 0, mayBeMore: false }
      : removeChunk(tx, { ...removal, after });
  });

/** Time part of the id at which the previous chunk ended; undefined: nothing is left, or another process works on it. */
async function lockProgress(
  tx: Queryable,
  { projectId, before }: Removal,
): Promise<string | undefined> {
  const { rows } = await tx.query<{ after: string }>(
    `select coalesce(e.removed_to, '') as after
       from project p
       left join explanation_removal e on e.project_id = p.project_id
      where p.project_id = $1 and coalesce(e.removed_to, '') < $2
        for no key update of p skip locked`,
    [projectId, before],
  );
  return rows[0]?.after;
}

async function removeChunk(
  tx: Queryable,
  { projectId, after, before, limit }: Removal & { readonly after: string },
): Promise<RemovedChunk> {
  const { rows: ends } = await tx.query<{ end: string }>(
    `select least($3, ${timeAfter("r_")}, ${timeAfter("rf_")}) as end`,
    [projectId, after, before, limit],
  );
  const end = ends[0]?.end ?? before;
  const { rows } = await tx.query<{ removed: number }>(
    `with removed as (
       update redemption set explanation = null
        where project_id = $1 and id = any (array(${idsOf("r_")}) || array(${idsOf("rf_")}))
       returning 1
     ), recorded as (
       insert into explanation_removal (project_id, removed_to) values ($1, $3)
           on conflict (project_id) do update
              set removed_to = greatest(explanation_removal.removed_to, excluded.removed_to)
     )
     select count(*)::int4 as removed from removed`,
    [projectId, after, end],
  );
  return { removed: rows[0]?.removed ?? 0, mayBeMore: end < before };
}

/** The time in the id of the first redemption after the chunk; null if there is none. */
const timeAfter = (prefix: string): string => `
  (select substr(id, ${prefix.length + 1}) from redemption
    where project_id = $1 and id >= '${prefix}' || $2 and id < '${prefix}' || $3
    order by id offset $4 limit 1)`;

/**
 * Locked in the order of their ids, as by requests. Ids, not ctids: a request that is updating a row moves it to
 * another ctid.
 */
const idsOf = (prefix: string): string => `
  select id from redemption
   where project_id = $1 and id >= '${prefix}' || $2 and id < '${prefix}' || $3
     and explanation is not null
   order by id
     for update`;
