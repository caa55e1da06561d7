import type { Queryable } from "@scrip/postgres";

import type { Card, CardReference, LedgerEntry } from "../domain/card.ts";
import { keyOf } from "../domain/card.ts";

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

/** Those of the cards that are open, by `keyOf` of project and card. */
export const findCards = (
  db: Queryable,
  names: readonly Pick<CardReference, "projectId" | "cardId">[],
): Promise<ReadonlyMap<string, Card>> => selectCards(db, names, "");

/**
 * Holds cards until the transaction ends, in the order of their keys: whatever moves points does so first
 * of all. Rewards are locked after them.
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
  const sorted = distinct(names);
  const { rows } = await db.query<CardRow>(
    `select ${COLUMNS} from loyalty_card c
      where (project_id, id) in (select * from unnest($1::text[], $2::text[]))
      order by project_id, id
      ${lock}`,
    [sorted.map(({ projectId }) => projectId), sorted.map(({ cardId }) => cardId)],
  );
  return new Map(rows.map((row) => [keyOf(row.project_id, row.id), fromRow(row)]));
}

/** Opens the cards that are not. In the order of their keys, so that two that open the same do not meet. */
export async function openCards(
  tx: Queryable,
  names: readonly CardReference[],
  at: Date,
): Promise<void> {
  if (names.length === 0) return;
  const sorted = distinct(names);
  await tx.query(
    `insert into loyalty_card (project_id, id, points, balance, opened_at)
     select project_id, id, points, points, $4
       from unnest($1::text[], $2::text[], $3::int8[]) as one (project_id, id, points)
         on conflict do nothing`,
    [
      sorted.map(({ projectId }) => projectId),
      sorted.map(({ cardId }) => cardId),
      sorted.map(({ initialPoints }) => initialPoints),
      at,
    ],
  );
}

function distinct<Name extends Pick<CardReference, "projectId" | "cardId">>(
  names: readonly Name[],
): readonly Name[] {
  const byKey = new Map(names.map((name) => [keyOf(name.projectId, name.cardId), name]));
  return [...byKey].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, name]) => name);
}

/** The cards must be locked. */
export async function saveCards(tx: Queryable, cards: readonly Card[]): Promise<void> {
  if (cards.length === 0) return;
  await tx.query(
    `update loyalty_card c
        set redeemed_points = one.redeemed_points, balance = one.balance,
            held_points = one.held_points, ledger_version = one.ledger_version
       from unnest($1::text[], $2::text[], $3::int8[], $4::int8[], $5::int8[], $6::int8[])
              as one (project_id, id, redeemed_points, balance, held_points, ledger_version)
      where c.project_id = one.project_id and c.id = one.id`,
    [
      cards.map(({ projectId }) => projectId),
      cards.map(({ id }) => id),
      cards.map(({ redeemedPoints }) => redeemedPoints),
      cards.map(({ balance }) => balance),
      cards.map(({ heldPoints }) => heldPoints),
      cards.map(({ ledgerVersion }) => ledgerVersion),
    ],
  );
}

export type NewLedgerEntry = LedgerEntry & { readonly id: string };

export async function insertEntries(
  tx: Queryable,
  entries: readonly NewLedgerEntry[],
): Promise<void> {
  if (entries.length === 0) return;
  await tx.query(
    `insert into ledger_entry (project_id, card_id, version, id, type, points, balance_after, cause,
                               redemption_id, rollback_id, reward_id, created_at)
     select * from unnest($1::text[], $2::text[], $3::int8[], $4::text[], $5::text[], $6::int8[],
                          $7::int8[], $8::text[], $9::text[], $10::text[], $11::text[],
                          $12::timestamptz[])`,
    [
      entries.map(({ projectId }) => projectId),
      entries.map(({ cardId }) => cardId),
      entries.map(({ version }) => version),
      entries.map(({ id }) => id),
      entries.map(({ type }) => type),
      entries.map(({ points }) => points),
      entries.map(({ balanceAfter }) => balanceAfter),
      entries.map(({ cause }) => cause),
      entries.map(({ redemptionId }) => redemptionId),
      entries.map(({ rollbackId }) => rollbackId),
      entries.map(({ rewardId }) => rewardId),
      entries.map(({ at }) => new Date(at)),
    ],
  );
}

/** Those of the causes that moved points of the cards before. */
export async function findCauses(
  tx: Queryable,
  causes: readonly {
    readonly projectId: string;
    readonly cardId: string;
    readonly cause: string;
  }[],
): Promise<ReadonlySet<string>> {
  if (causes.length === 0) return new Set();
  const { rows } = await tx.query<{ project_id: string; card_id: string; cause: string }>(
    `select project_id, card_id, cause from ledger_entry
      where (project_id, card_id, cause) in (select * from unnest($1::text[], $2::text[], $3::text[]))`,
    [
      causes.map(({ projectId }) => projectId),
      causes.map(({ cardId }) => cardId),
      causes.map(({ cause }) => cause),
    ],
  );
  return new Set(rows.map((row) => keyOf(row.project_id, row.card_id, row.cause)));
}

const fromRow = (row: CardRow): Card => ({
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
