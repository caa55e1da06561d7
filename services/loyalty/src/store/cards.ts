import { batchOf, buildStatement, column, type ColumnTable, type Queryable } from "@scrip/postgres";

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
  ledger_hash: Buffer | null;
  chained_version: bigint;
  campaign_id: string | null;
  pending_points: bigint;
  next_expires_on: string | null;
  next_expiring_points: bigint;
};

const COLUMNS = `project_id, id, points, redeemed_points, subtracted_points, expired_points, balance,
  held_points, ledger_version, ledger_hash, chained_version, campaign_id, pending_points, next_expires_on, next_expiring_points`;

type CardName = Pick<CardReference, "projectId" | "cardId" | "campaignId">;

/** Returns the open ones of the cards, by `keyOf` of project and card. */
export const findCards = (
  db: Queryable,
  names: readonly CardName[],
): Promise<ReadonlyMap<string, Card>> => selectCards(db, names, "");

/** Whether any card of the project is open, which the first change of its points does. */
export async function hasCards(db: Queryable, projectId: string): Promise<boolean> {
  const { rows } = await db.query("select from loyalty_card where project_id = $1 limit 1", [
    projectId,
  ]);
  return rows.length > 0;
}

/**
 * Locks cards until the transaction ends, in key order. Every change of points does this first; rewards are
 * locked after the cards.
 */
export const lockCards = (
  tx: Queryable,
  names: readonly CardName[],
): Promise<ReadonlyMap<string, Card>> => selectCards(tx, names, "for no key update of c");

async function selectCards(
  db: Queryable,
  names: readonly CardName[],
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
  const campaigns = new Map(
    sorted.map(({ projectId, cardId, campaignId }) => [keyOf(projectId, cardId), campaignId]),
  );
  return new Map(
    rows.map((row) => {
      const key = keyOf(row.project_id, row.id);
      const card = cardFromRow(row);
      return [key, { ...card, campaignId: card.campaignId ?? campaigns.get(key) ?? null }];
    }),
  );
}

/** A card with the time at which it was opened; undefined before its first change. */
export async function findOpenedCard(
  db: Queryable,
  { projectId, cardId }: CardName,
): Promise<{ readonly card: Card; readonly openedAt: Date } | undefined> {
  const { rows } = await db.query<CardRow & { opened_at: Date }>(
    `select ${COLUMNS}, opened_at from loyalty_card where project_id = $1 and id = $2`,
    [projectId, cardId],
  );
  const [row] = rows;
  return row && { card: cardFromRow(row), openedAt: row.opened_at };
}

/** Opens the cards that are not open yet, at this time, and locks all of them as `lockCards` does. */
export async function openAndLockCards(
  tx: Queryable,
  cards: readonly CardReference[],
  at: number,
): Promise<ReadonlyMap<string, Card>> {
  await openCards(tx, cards, new Date(at));
  return lockCards(tx, cards);
}

/** Inserts the cards that are not open yet, in key order, so that concurrent batches do not deadlock. */
async function openCards(tx: Queryable, names: readonly CardReference[], at: Date): Promise<void> {
  if (names.length === 0) return;
  const sorted = sortedDistinct(names);
  await tx.query(
    `insert into loyalty_card (project_id, id, points, balance, opened_at, campaign_id)
     select project_id, id, points, points, $4, campaign_id
       from unnest($1::text[], $2::text[], $3::int8[], $5::text[])
              as item (project_id, id, points, campaign_id)
         on conflict do nothing`,
    [
      sorted.map(({ projectId }) => projectId),
      sorted.map(({ cardId }) => cardId),
      sorted.map(({ initialPoints }) => initialPoints),
      at,
      sorted.map(({ campaignId }) => campaignId ?? null),
    ],
  );
}

function sortedDistinct<Name extends CardName>(names: readonly Name[]): readonly Name[] {
  const byKey = new Map(names.map((name) => [keyOf(name.projectId, name.cardId), name]));
  return [...byKey].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, name]) => name);
}

/**
 * Saves changes by holds: balances, and what they count in. The cards must be locked, and their lots unchanged.
 */
export async function saveBalances(tx: Queryable, cards: readonly Card[]): Promise<void> {
  if (cards.length > 0) await tx.query(saveBalancesStatement({ cards }));
}

const balanceColumns: ColumnTable<Card> = {
  project_id: column.text(({ projectId }) => projectId),
  id: column.text(({ id }) => id),
  redeemed_points: column.int8(({ redeemedPoints }) => redeemedPoints),
  balance: column.int8(({ balance }) => balance),
  held_points: column.int8(({ heldPoints }) => heldPoints),
  ledger_version: column.int8(({ ledgerVersion }) => ledgerVersion),
  ledger_hash: column.bytea(({ ledgerHash }) => ledgerHash),
  chained_version: column.int8(({ chainedVersion }) => chainedVersion),
};

const saveBalancesStatement = buildStatement({
  parts: { cards: batchOf(balanceColumns) },
  text: ({ cards }) => `
    update loyalty_card c
       set redeemed_points = item.redeemed_points, balance = item.balance,
           held_points = item.held_points, ledger_version = item.ledger_version,
           ledger_hash = item.ledger_hash, chained_version = item.chained_version
      from ${cards.rows("item")}
     where c.project_id = item.project_id and c.id = item.id`,
});

/** Saves all figures of the cards, which must be locked. */
export async function saveCards(tx: Queryable, cards: readonly Card[]): Promise<void> {
  if (cards.length > 0) await tx.query(saveStatement({ cards }));
}

const saveStatement = buildStatement({
  parts: {
    cards: batchOf<Card>({
      ...balanceColumns,
      points: column.int8(({ points }) => points),
      subtracted_points: column.int8(({ subtractedPoints }) => subtractedPoints),
      expired_points: column.int8(({ expiredPoints }) => expiredPoints),
      pending_points: column.int8(({ pendingPoints }) => pendingPoints),
      campaign_id: column.text(({ campaignId }) => campaignId),
      next_expires_on: column.date(({ nextExpiresOn }) => nextExpiresOn),
      next_expiring_points: column.int8(({ nextExpiringPoints }) => nextExpiringPoints),
    }),
  },
  text: ({ cards }) => `
    update loyalty_card c
       set redeemed_points = item.redeemed_points, balance = item.balance,
           held_points = item.held_points, ledger_version = item.ledger_version,
           ledger_hash = item.ledger_hash, chained_version = item.chained_version,
           points = item.points, subtracted_points = item.subtracted_points,
           expired_points = item.expired_points, pending_points = item.pending_points,
           campaign_id = item.campaign_id, next_expires_on = item.next_expires_on,
           next_expiring_points = item.next_expiring_points
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
  ledgerHash: row.ledger_hash,
  chainedVersion: row.chained_version,
  campaignId: row.campaign_id,
  pendingPoints: row.pending_points,
  nextExpiresOn: row.next_expires_on,
  nextExpiringPoints: row.next_expiring_points,
});
