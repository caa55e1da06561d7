import { type Card, pointsLockedByOthers, type PointsLock, availablePoints } from "./card.ts";
import { keyOf } from "./key.ts";

export type ReservePointsCommand = {
  readonly projectId: string;
  readonly sessionKey: string;
  /** Current time of the project. */
  readonly now: number;
  /** All points that the session locks from now on. */
  readonly reservations: readonly {
    readonly cardId: string;
    readonly points: bigint;
    readonly expiresAt: number;
  }[];
};

export type ReservePointsDecision = {
  readonly reserved: boolean;
  /** Unexpired locks of the session before the command. */
  readonly previous: readonly PointsLock[];
};

export type ReservePointsResult = {
  readonly decisions: readonly ReservePointsDecision[];
  /** The new locks of each session whose command succeeded, by `keyOf` of project and session. */
  readonly locks: ReadonlyMap<string, readonly PointsLock[]>;
};

/**
 * Decides the locks of sessions over locked cards, in order of arrival: a command replaces all locks of its
 * session, or changes nothing (docs/sessions.md#locks).
 */
export function decidePointsReservations(
  commands: readonly ReservePointsCommand[],
  {
    cards,
    locks,
  }: { readonly cards: ReadonlyMap<string, Card>; readonly locks: readonly PointsLock[] },
): ReservePointsResult {
  let held = [...locks];
  const sessions = new Map<string, readonly PointsLock[]>();
  const decisions = commands.map((command): ReservePointsDecision => {
    const { projectId, sessionKey, now, reservations } = command;
    const isOwn = (lock: PointsLock): boolean =>
      lock.projectId === projectId && lock.sessionKey === sessionKey;
    const previous = held.filter((lock) => isOwn(lock) && lock.expiresAt > now);
    const fits = reservations.every(({ cardId, points }) => {
      const card = cards.get(keyOf(projectId, cardId));
      if (card === undefined) return false;
      const ofCard = held.filter((lock) => lock.projectId === projectId && lock.cardId === cardId);
      return points <= availablePoints(card) - pointsLockedByOthers(ofCard, { sessionKey, now });
    });
    if (!fits) return { reserved: false, previous };
    const own = reservations
      .filter(({ points }) => points > 0n)
      .map((reservation) => ({ projectId, sessionKey, lockedAt: now, ...reservation }));
    held = [...held.filter((lock) => !isOwn(lock)), ...own];
    sessions.set(keyOf(projectId, sessionKey), own);
    return { reserved: true, previous };
  });
  return { decisions, locks: sessions };
}
