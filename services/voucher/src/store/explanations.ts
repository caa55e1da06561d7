import { type Queryable, unpackBytes } from "@scrip/postgres";

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

/** Explanations of redemptions, failed ones too, before `before`: the part of an id that is its time. */
export type Removal = {
  readonly projectId: string;
  /** Of the chunk before. */
  readonly after: string;
  readonly before: string;
};

/** A project with explanations that may be older. */
export async function findRemoval(db: Queryable, before: string): Promise<Removal | undefined> {
  const { rows } = await db.query<{ project_id: string; after: string }>(
    `select p.project_id, coalesce(e.removed_to, '') as after
       from project p
       left join explanation_removal e on e.project_id = p.project_id
      where e.removed_to is null or e.removed_to < $1
      limit 1`,
    [before],
  );
  return rows[0] && { projectId: rows[0].project_id, after: rows[0].after, before };
}

/** Removes the explanations of about `limit` redemptions, and records how far it came. Returns how many it removed. */
export async function removeExplanations(
  db: Queryable,
  { projectId, after, before }: Removal,
  limit: number,
): Promise<number> {
  const { rows: ends } = await db.query<{ end: string }>(
    `select least($3, ${timeAfter("r_")}, ${timeAfter("rf_")}) as end`,
    [projectId, after, before, limit],
  );
  const end = ends[0]?.end ?? before;
  const { rows } = await db.query<{ removed: number }>(
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
  return rows[0]?.removed ?? 0;
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
