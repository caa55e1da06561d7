import { enqueue, type Origin } from "@scrip/events";
import type { Queryable } from "@scrip/postgres";

import type { Deps } from "../deps.ts";
import type { Card, CardReference } from "../domain/card.ts";
import { keyOf } from "../domain/key.ts";
import { remainingCapacityOf } from "../domain/move-points.ts";
import { pendingPointsChangedEvent } from "../events/pending-points-changed.ts";
import { openAndLockCards, saveCards } from "../store/cards.ts";
import { findCauses } from "../store/ledger-entries.ts";
import { insertPendingPoints, type PendingPoints } from "../store/pending-points.ts";

/** An entry to add, of a card that may not be open yet. */
export type NewPendingPoints = {
  readonly card: CardReference;
  readonly entry: Omit<PendingPoints, "id" | "status">;
  readonly origin: Origin | undefined;
};

/**
 * Grants points that become active later, in the caller's transaction: writes the entries, what they add to their cards,
 * and events. A cause that granted points to its card before, pending or not, changes nothing.
 */
export async function addPendingPoints(
  tx: Queryable,
  { newId }: Pick<Deps, "newId">,
  requests: readonly NewPendingPoints[],
): Promise<readonly PendingPoints[]> {
  if (requests.length === 0) return [];
  const references = requests.map(({ card }) => card);
  const latest = Math.max(...requests.map(({ entry }) => entry.createdAt));
  const cards = await openAndLockCards(tx, references, latest);
  const granted = await findCauses(
    tx,
    requests.map(({ entry }) => entry),
  );
  const fitting = withinRoom(
    requests.map(({ entry }) => entry).filter((entry) => !granted.has(grantKey(entry))),
    cards,
  );
  const inserted = await insertPendingPoints(
    tx,
    fitting.map((entry) => ({ ...entry, id: newId("lopp"), status: "PENDING" as const })),
  );
  const origins = new Map(requests.map(({ entry, origin }) => [grantKey(entry), origin]));
  const added = Map.groupBy(inserted, ({ projectId, cardId }) => keyOf(projectId, cardId));
  await Promise.all([
    saveCards(
      tx,
      [...added].flatMap(([key, entries]): Card[] => {
        const card = cards.get(key);
        const sum = entries.reduce((total, { points }) => total + points, 0n);
        return card === undefined ? [] : [{ ...card, pendingPoints: card.pendingPoints + sum }];
      }),
    ),
    enqueue(
      tx,
      inserted.map((entry) => ({
        ...pendingPointsChangedEvent(newId("event"), {
          entry,
          change: "ADDED",
          points: entry.points,
          at: entry.createdAt,
        }),
        origin: origins.get(grantKey(entry)),
      })),
      undefined,
    ),
  ]);
  return inserted;
}

/** The entries that their cards have room for, in order. The others are dropped, as accruals are. */
function withinRoom<Entry extends Pick<PendingPoints, "projectId" | "cardId" | "points">>(
  entries: readonly Entry[],
  cards: ReadonlyMap<string, Card>,
): readonly Entry[] {
  const rooms = new Map([...cards].map(([key, card]) => [key, remainingCapacityOf(card)]));
  return entries.filter(({ projectId, cardId, points }) => {
    const key = keyOf(projectId, cardId);
    const room = rooms.get(key) ?? 0n;
    if (points > room) return false;
    rooms.set(key, room - points);
    return true;
  });
}

const grantKey = ({
  projectId,
  cardId,
  cause,
}: Pick<PendingPoints, "projectId" | "cardId" | "cause">): string =>
  keyOf(projectId, cardId, cause);
