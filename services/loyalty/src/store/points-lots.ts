import { batchOf, buildStatement, column, type Queryable, textArray } from "@scrip/postgres";

import type { Lot } from "../domain/card.ts";
import { keyOf } from "../domain/key.ts";

type LotRow = {
  project_id: string;
  card_id: string;
  id: string;
  expires_on: string;
  points: bigint;
};

/** The lots of cards that have not expired, earliest first, by `keyOf` of project and card. */
export async function findActiveLots(
  db: Queryable,
  cards: readonly { readonly projectId: string; readonly cardId: string }[],
): Promise<ReadonlyMap<string, readonly Lot[]>> {
  if (cards.length === 0) return new Map();
  // A range with its order, which only the index of active lots provides: by statistics from before the lots were created,
  // PostgreSQL would read all of them for some cards.
  const { rows } = await db.query<LotRow>({
    planning: "indexLookups",
    text: `select lot.*
             from unnest($1::text[], $2::text[]) as card (project_id, id)
            cross join lateral (
                  select project_id, card_id, id, expires_on, points from points_lot
                   where project_id = card.project_id and card_id between card.id and card.id and not expired
                   order by card_id, expires_on) as lot
            order by lot.project_id, lot.card_id, lot.expires_on`,
    values: [
      textArray(cards.map(({ projectId }) => projectId)),
      textArray(cards.map(({ cardId }) => cardId)),
    ],
  });
  const groups = Map.groupBy(rows, (row) => keyOf(row.project_id, row.card_id));
  return new Map([...groups].map(([key, ofCard]) => [key, ofCard.map(lotFromRow)]));
}

export type LotTimes = { readonly createdAt: Date | null; readonly updatedAt: Date | null };

/** When lots of a card were created and changed, by id. */
export async function findLotTimes(
  db: Queryable,
  { projectId, cardId }: { readonly projectId: string; readonly cardId: string },
  ids: readonly string[],
): Promise<ReadonlyMap<string, LotTimes>> {
  const { rows } = await db.query<LotTimes & { id: string }>(
    `select id, created_at as "createdAt", updated_at as "updatedAt" from points_lot
      where project_id = $1 and card_id = $2 and id = any($3::text[])`,
    [projectId, cardId, ids],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

export type SavedLot = Lot & {
  readonly projectId: string;
  readonly cardId: string;
  /** Time of the change on the project's clock. */
  readonly at: number;
};

/** Inserts or updates lots. The rows of their cards must be locked. */
export async function saveLots(tx: Queryable, lots: readonly SavedLot[]): Promise<void> {
  if (lots.length > 0) await tx.query(saveStatement({ lots }));
}

const saveStatement = buildStatement({
  parts: {
    lots: batchOf<SavedLot>({
      project_id: column.text(({ projectId }) => projectId),
      card_id: column.text(({ cardId }) => cardId),
      id: column.text(({ id }) => id),
      expires_on: column.date(({ expiresOn }) => expiresOn),
      points: column.int8(({ points }) => points),
      expired: column.bool(({ expired }) => expired),
      created_at: column.timestamp(({ at }) => at),
    }),
  },
  text: ({ lots }) => `
    insert into points_lot (${lots.columns})
    select ${lots.columns} from ${lots.rows("item")}
        on conflict (project_id, card_id, id) do update
       set points = excluded.points, expired = excluded.expired, updated_at = excluded.created_at`,
});

const lotFromRow = (row: LotRow): Lot => ({
  id: row.id,
  expiresOn: row.expires_on,
  points: row.points,
  expired: false,
});
