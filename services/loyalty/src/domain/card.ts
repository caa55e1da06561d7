/** The balance of a loyalty card; every change of points locks its row. */
export type Card = {
  readonly projectId: string;
  readonly id: string;
  /** Sum of all points ever added. */
  readonly points: bigint;
  readonly redeemedPoints: bigint;
  readonly subtractedPoints: bigint;
  readonly expiredPoints: bigint;
  readonly balance: bigint;
  /** The part of the balance that pending holds reserve. */
  readonly heldPoints: bigint;
  /** Number of ledger entries. */
  readonly ledgerVersion: bigint;
};

export type CardReference = {
  readonly projectId: string;
  readonly cardId: string;
  /** Points of the voucher at its creation: the balance of a card that is not open yet. */
  readonly initialPoints: bigint;
};

/** Points of a card that a session locks, until a time of the project's clock. */
export type PointsLock = {
  readonly projectId: string;
  readonly cardId: string;
  readonly sessionKey: string;
  readonly points: bigint;
  readonly lockedAt: number;
  readonly expiresAt: number;
};

export type PointsHoldStatus = "PENDING" | "CONFIRMED" | "RETURNED";

/** Points held for a redemption before its commit: PENDING, then CONFIRMED (claimed) or RETURNED (released). */
export type PointsHold = {
  readonly projectId: string;
  readonly id: string;
  readonly cardId: string;
  readonly points: bigint;
  readonly status: PointsHoldStatus;
  readonly requestKey: string | null;
  readonly rewardId: string;
  readonly takesStock: boolean;
  readonly redemptionId: string | null;
  readonly sessionKey: string | null;
  /** Points and expiry of the session lock that the hold replaced. */
  readonly lockedPoints: bigint | null;
  readonly lockedUntil: number | null;
  /** Time of the hold on the project's clock. */
  readonly at: number;
};

export type LedgerEntry = {
  readonly projectId: string;
  readonly cardId: string;
  readonly version: bigint;
  readonly type: "POINTS_REDEMPTION" | "POINTS_REFUND";
  /** Negative for redemptions. */
  readonly points: bigint;
  readonly balanceAfter: bigint;
  readonly cause: string;
  readonly redemptionId: string | null;
  readonly rollbackId: string | null;
  readonly rewardId: string | null;
  readonly at: number;
};

export const newCard = ({ projectId, cardId, initialPoints }: CardReference): Card => ({
  projectId,
  id: cardId,
  points: initialPoints,
  redeemedPoints: 0n,
  subtractedPoints: 0n,
  expiredPoints: 0n,
  balance: initialPoints,
  heldPoints: 0n,
  ledgerVersion: 0n,
});

/** The points that can be held or locked: pending holds count as spent. */
export const availablePoints = ({ balance, heldPoints }: Card): bigint => balance - heldPoints;

/** Points that other sessions lock at this time. */
export function pointsLockedByOthers(
  locks: Iterable<PointsLock>,
  { sessionKey, now }: { readonly sessionKey: string | null; readonly now: number },
): bigint {
  let locked = 0n;
  for (const lock of locks) {
    if (lock.sessionKey !== sessionKey && lock.expiresAt > now) locked += lock.points;
  }
  return locked;
}

export const holdPoints = (card: Card, points: bigint): Card => ({
  ...card,
  heldPoints: card.heldPoints + points,
});

/** The card and its ledger entry after the redemption has claimed the held points. */
export function claimHeldPoints(
  card: Card,
  hold: Pick<PointsHold, "id" | "points" | "rewardId" | "at">,
  redemptionId: string,
): { readonly card: Card; readonly entry: LedgerEntry } {
  const { points } = hold;
  const after: Card = {
    ...card,
    redeemedPoints: card.redeemedPoints + points,
    balance: card.balance - points,
    heldPoints: card.heldPoints - points,
    ledgerVersion: card.ledgerVersion + 1n,
  };
  const what = { type: "POINTS_REDEMPTION" as const, points: -points, cause: hold.id };
  const why = { redemptionId, rollbackId: null, rewardId: hold.rewardId, at: hold.at };
  return { card: after, entry: ledgerEntry(after, { ...what, ...why }) };
}

/** The card and its ledger entry after the rollback of a redemption. */
export function refundPoints(
  card: Card,
  hold: Pick<PointsHold, "points" | "rewardId">,
  {
    redemptionId,
    rollbackId,
    at,
  }: { readonly redemptionId: string; readonly rollbackId: string; readonly at: number },
): { readonly card: Card; readonly entry: LedgerEntry } {
  const { points } = hold;
  const after: Card = {
    ...card,
    redeemedPoints: card.redeemedPoints - points,
    balance: card.balance + points,
    ledgerVersion: card.ledgerVersion + 1n,
  };
  const what = { type: "POINTS_REFUND" as const, points, cause: rollbackId };
  return {
    card: after,
    entry: ledgerEntry(after, { ...what, redemptionId, rollbackId, rewardId: hold.rewardId, at }),
  };
}

const ledgerEntry = (
  { projectId, id, ledgerVersion, balance }: Card,
  rest: Omit<LedgerEntry, "projectId" | "cardId" | "version" | "balanceAfter">,
): LedgerEntry => ({
  projectId,
  cardId: id,
  version: ledgerVersion,
  balanceAfter: balance,
  ...rest,
});
