import type { Queryable } from "@scrip/postgres";

import type { Account } from "../domain/account.ts";
import { availablePoints, type PointsLock } from "../domain/card.ts";
import { deleteLocks, upsertLocks } from "../store/points-locks.ts";

/** Reduces the locks of sessions to the points that are left after some expired: the latest lock gives way first. */
export async function trimLocks(
  tx: Queryable,
  {
    accounts,
    locks,
    now,
  }: {
    readonly accounts: ReadonlyMap<string, Account>;
    readonly locks: readonly PointsLock[];
    readonly now: (projectId: string) => number;
  },
): Promise<void> {
  const changes = [...accounts.values()].flatMap(({ card }) => {
    let left = availablePoints(card);
    return locks
      .filter(({ projectId, cardId }) => projectId === card.projectId && cardId === card.id)
      .filter(({ expiresAt }) => expiresAt > now(card.projectId))
      .toSorted((a, b) => a.lockedAt - b.lockedAt)
      .flatMap((lock) => {
        const points = lock.points < left ? lock.points : left;
        left -= points;
        return points === lock.points ? [] : [{ ...lock, points }];
      });
  });
  await Promise.all([
    upsertLocks(
      tx,
      changes.filter(({ points }) => points > 0n),
    ),
    deleteLocks(
      tx,
      changes.filter(({ points }) => points === 0n),
    ),
  ]);
}
