import type { Queryable } from "@scrip/postgres";

/** A hold, for comparison with the redemptions of the voucher service (`scrip check-invariants`). */
export type AuditedPointsHold = {
  readonly id: string;
  readonly cardId: string;
  readonly points: bigint;
  readonly status: string;
  readonly redemptionId: string | null;
  readonly refunded: boolean;
};

/** Reads the holds with these ids, or the next ones in the order of their ids. */
export async function readPointsHolds(
  db: Queryable,
  projectId: string,
  which: { readonly ids: readonly string[] } | { readonly after: string; readonly limit: number },
): Promise<readonly AuditedPointsHold[]> {
  const [condition, values] =
    "ids" in which
      ? ["s.id = any($2::text[])", [which.ids]]
      : ["s.id > $2 order by s.id limit $3", [which.after, which.limit]];
  const { rows } = await db.query<AuditedPointsHold>(
    `select s.id, s.card_id as "cardId", s.points, s.status, s.redemption_id as "redemptionId",
            exists (select from ledger_entry l
                     where l.project_id = s.project_id and l.card_id = s.card_id
                       and l.redemption_id = s.redemption_id and l.type = 'POINTS_REFUND') as refunded
       from points_spend s
      where s.project_id = $1 and ${condition}`,
    [projectId, ...values],
  );
  return rows;
}
