import { batchOf, buildStatement, column, type Queryable } from "@scrip/postgres";

import type { Card, CardReference } from "../domain/card.ts";
import { keyOf } from "../domain/key.ts";

type CardRow = {
  project_id: string;
  id: string;
  points: bigint;
  redeemed_points: bigint;
  subtracted_points: bigint;
  expired_points: bigint;
  balance: bigint;
  held_points: bigint;
  ledger_version: bigint;
};

const COLUMNS = `project_id, id, points, redeemed_points, subtracted_points, expired_points, balance,
  held_points, ledger_version`;

/** Returns the open ones of the cards, by `keyOf` of project and card. */
export const findCards = (
  db: Queryable,
  names: readonly Pick<CardReference, "projectId" | "cardId">[],
): Promise<ReadonlyMap<string, Card>> => selectCards(db, names, "");

/**
 * Locks cards until the transaction ends, in key order. Every change of points does this first; rewards are
 * locked after the cards.
 */
export const lockCards = (
  tx: Queryable,
  names: readonly Pick<CardReference, "projectId" | "cardId">[],
): Promise<ReadonlyMap<string, Card>> => selectCards(tx, names, "for no key update of c");

async function selectCards(
  db: Queryable,
  names: readonly Pick<CardReference, "projectId" | "cardId">[],
  lock: string,
): Promise<ReadonlyMap<string, Card>> {
  if (names.length === 0) return new Map();
  const sorted = sortedDistinct(names);
  const { rows } = await db.query<CardRow>(
    `select ${COLUMNS} from loyalty_card c
      where (project_id, id) in (select * from unnest($1::text[], $2::text[]))
      order by project_id, id
      ${lock}`,
    [sorted.map(({ projectId }) => projectId), sorted.map(({ cardId }) => cardId)],
  );
  return new Map(rows.map((row) => [keyOf(row.project_id, row.id), cardFromRow(row)]));
}

/** Inserts the cards that are not open yet, in key order, so that concurrent batches do not deadlock. */
export async function openCards(
  tx: Queryable,
  names: readonly CardReference[],
  at: Date,
): Promise<void> {
  if (names.length === 0) return;
  const sorted = sortedDistinct(names);
  await tx.query(
    `insert into loyalty_card (project_id, id, points, balance, opened_at)
     select project_id, id, points, points, $4
       from unnest($1::text[], $2::text[], $3::int8[]) as item (project_id, id, points)
         on conflict do nothing`,
    [
      sorted.map(({ projectId }) => projectId),
      sorted.map(({ cardId }) => cardId),
      sorted.map(({ initialPoints }) => initialPoints),
      at,
    ],
  );
}

function sortedDistinct<Name extends Pick<CardReference, "projectId" | "cardId">>(
  names: readonly Name[],
): readonly Name[] {
  const byKey = new Map(names.map((name) => [keyOf(name.projectId, name.cardId), name]));
  return [...byKey].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, name]) => name);
}

/** The cards must be locked. */
export async function saveCards(tx: Queryable, cards: readonly Card[]): Promise<void> {
  if (cards.length > 0) await tx.query(saveStatement({ cards }));
}

const saveStatement = buildStatement({
  parts: {
    cards: batchOf<Card>({
      project_id: column.text(({ projectId }) => projectId),
      id: column.text(({ id }) => id),
      redeemed_points: column.int8(({ redeemedPoints }) => redeemedPoints),
      balance: column.int8(({ balance }) => balance),
      held_points: column.int8(({ heldPoints }) => heldPoints),
      ledger_version: column.int8(({ ledgerVersion }) => ledgerVersion),
    }),
  },
  text: ({ cards }) => `
    update loyalty_card c
       set redeemed_points = item.redeemed_points, balance = item.balance,
           held_points = item.held_points, ledger_version = item.ledger_version
      from ${cards.rows("item")}
     where c.project_id = item.project_id and c.id = item.id`,
});

const cardFromRow = (row: CardRow): Card => ({
  projectId: row.project_id,
  id: row.id,
  points: row.points,
  redeemedPoints: row.redeemed_points,
  subtractedPoints: row.subtracted_points,
  expiredPoints: row.expired_points,
  balance: row.balance,
  heldPoints: row.held_points,
  ledgerVersion: row.ledger_version,
});
