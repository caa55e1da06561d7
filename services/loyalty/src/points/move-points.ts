import { enqueue, INTERNAL, type Origin } from "@scrip/events";
import type { Queryable } from "@scrip/postgres";

import type { Deps } from "../deps.ts";
import type { Card } from "../domain/card.ts";
import { keyOf } from "../domain/key.ts";
import {
  decideMovements,
  type MovementDecision,
  type PointsMovement,
} from "../domain/move-points.ts";
import { pointsMovedEvent } from "../events/points-moved.ts";
import { openAndLockCards } from "../store/cards.ts";
import { findRecordedEntries } from "../store/ledger-entries.ts";
import { findLocksOfCards } from "../store/points-locks.ts";
import { loadAccounts, saveAccounts } from "./accounts.ts";
import { trimLocks } from "./trim-locks.ts";

/** A movement, and the request that caused it; absent: an event without an origin did. */
export type CausedMovement = PointsMovement & { readonly origin?: Origin | undefined };

/**
 * Moves points in the caller's transaction: the one way to credit a card, and to debit it other than by a redemption
 * (services/decisions/0038-lots-and-movements.md). Locks the cards in key order, expires what is past its date, and writes
 * cards, lots, ledger entries and events. A movement whose cause has an entry on its card is `repeated` and changes
 * nothing; a rejected one changes nothing either, and the others are written unless the caller rolls back. The caller
 * calls `deps.onEvents` after its commit. At most some thousand movements.
 */
export async function movePoints(
  tx: Queryable,
  deps: Pick<Deps, "newId">,
  movements: readonly CausedMovement[],
): Promise<readonly MovementDecision[]> {
  if (movements.length === 0) return [];
  const references = movements.map(({ card }) => card);
  const latest = Math.max(...movements.map(({ at }) => at));
  const cards = await openAndLockCards(tx, references, latest);
  return movePointsOf(tx, deps, { cards, movements });
}

/** As `movePoints`, on cards that the caller's transaction has locked and not changed since. */
export async function movePointsOf(
  tx: Queryable,
  { newId }: Pick<Deps, "newId">,
  {
    cards,
    movements,
  }: {
    readonly cards: ReadonlyMap<string, Card>;
    readonly movements: readonly CausedMovement[];
  },
): Promise<readonly MovementDecision[]> {
  if (movements.length === 0) return [];
  const references = movements.map(({ card }) => card);
  const times = new Map(movements.map(({ card, at }) => [card.projectId, at]));
  const timeOf = (projectId: string): number => times.get(projectId) ?? 0;
  const datedCredits = new Set(
    movements
      .filter(({ expiresOn }) => typeof expiresOn === "string")
      .map(({ card }) => keyOf(card.projectId, card.cardId)),
  );
  // Separate statements after the lock, to see what the transactions before this one wrote.
  const [before, locks, recorded] = await Promise.all([
    loadAccounts(tx, cards, (key) => datedCredits.has(key)),
    findLocksOfCards(tx, references),
    findRecordedEntries(
      tx,
      movements.map(({ card, cause }) => ({ ...card, cause })),
    ),
  ]);
  const { decisions, accounts, entries } = decideMovements(movements, {
    accounts: before,
    locks,
    recorded,
    newId: () => newId("vtx"),
    newLotId: () => newId("lopb"),
  });
  // Points that expired before have no movement.
  const origins = new Map(
    movements.flatMap(({ origin }, index) => {
      const decision = decisions[index];
      return decision?.kind === "moved" ? [[decision.entry.id, origin] as const] : [];
    }),
  );
  await Promise.all([
    saveAccounts(tx, { before, after: accounts, entries, at: timeOf }),
    trimLocks(tx, { accounts, locks, now: timeOf }),
    enqueue(
      tx,
      entries.map((entry) => ({
        ...pointsMovedEvent(newId("event"), entry),
        origin: origins.has(entry.id) ? origins.get(entry.id) : INTERNAL,
      })),
      undefined,
    ),
  ]);
  return decisions;
}
