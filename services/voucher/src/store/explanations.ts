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
