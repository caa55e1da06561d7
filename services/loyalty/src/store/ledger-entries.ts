import type { Queryable } from "@scrip/postgres";

export type EntryRow = {
  readonly id: string;
  readonly type: string;
  readonly points: bigint;
  readonly balance_after: bigint;
  readonly redemption_id: string | null;
  readonly rollback_id: string | null;
  readonly created_at: Date;
};

/** Before and behind all ids, in any order of letters: a page always begins somewhere. */
const FIRST = "";
const LAST = "zzzz";

/** A page of a card's ledger, by the ids of its entries, which sort as they were made. */
export async function listLedgerEntries(
  db: Queryable,
  {
    projectId,
    cardId,
    limit,
    descending,
    afterId,
  }: {
    readonly projectId: string;
    readonly cardId: string;
    readonly limit: number;
    readonly descending: boolean;
    readonly afterId: string | null;
  },
): Promise<readonly EntryRow[]> {
  const { rows } = await db.query<EntryRow>(
    `select id, type, points, balance_after, redemption_id, rollback_id, created_at
       from ledger_entry
      where project_id = $1 and card_id = $2 and id ${descending ? "<" : ">"} $3
      order by id ${descending ? "desc" : "asc"}
      limit $4`,
    [projectId, cardId, afterId ?? (descending ? LAST : FIRST), limit],
  );
  return rows;
}
