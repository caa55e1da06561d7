import { type Card, keyOf, lockedByOthers, type PointsLock, spendable } from "./card.ts";

export type ReserveCommand = {
  readonly projectId: string;
  readonly sessionKey: string;
  /** In the project's time. */
  readonly now: number;
  /** All that the session holds of cards from now on. */
  readonly reservations: readonly {
    readonly cardId: string;
    readonly points: bigint;
    readonly expiresAt: number;
  }[];
};

export type ReserveDecision = {
  readonly reserved: boolean;
  /** What the session held until now and did not lose by time. */
  readonly previous: readonly PointsLock[];
};

export type ReservationsDecided = {
  readonly decisions: readonly ReserveDecision[];
  /** All that the sessions which got what they asked for hold afterwards. */
  readonly locks: ReadonlyMap<string, readonly PointsLock[]>;
};

/**
 * Decides sessions over locked cards, in the order of arrival: each holds all that it asks for, instead of
 * what it held before, or stays as it was (spec/validation-and-redemption.md §7).
 */
export function decidePointReservations(
  commands: readonly ReserveCommand[],
  {
    cards,
    locks,
  }: { readonly cards: ReadonlyMap<string, Card>; readonly locks: readonly PointsLock[] },
): ReservationsDecided {
  let held = [...locks];
  const sessions = new Map<string, readonly PointsLock[]>();
  const decisions = commands.map((command): ReserveDecision => {
    const { projectId, sessionKey, now, reservations } = command;
    const isOwn = (lock: PointsLock): boolean =>
      lock.projectId === projectId && lock.sessionKey === sessionKey;
    const previous = held.filter((lock) => isOwn(lock) && lock.expiresAt > now);
    const fits = reservations.every(({ cardId, points }) => {
      const card = cards.get(keyOf(projectId, cardId));
      if (card === undefined) return false;
      const ofCard = held.filter((lock) => lock.projectId === projectId && lock.cardId === cardId);
      return points <= spendable(card) - lockedByOthers(ofCard, { sessionKey, now });
    });
    if (!fits) return { reserved: false, previous };
    const own = reservations
      .filter(({ points }) => points > 0n)
      .map((one) => ({ projectId, sessionKey, lockedAt: now, ...one }));
    held = [...held.filter((lock) => !isOwn(lock)), ...own];
    sessions.set(keyOf(projectId, sessionKey), own);
    return { reserved: true, previous };
  });
  return { decisions, locks: sessions };
}
