/** What is left of a loyalty card: the row that everything that moves points locks. */
export type Card = {
  readonly projectId: string;
  readonly id: string;
  /** All that was ever put on it. */
  readonly points: bigint;
  readonly redeemedPoints: bigint;
  readonly subtractedPoints: bigint;
  readonly expiredPoints: bigint;
  readonly balance: bigint;
  /** Of the balance, what pending spends hold. */
  readonly heldPoints: bigint;
  /** The number of ledger entries. */
  readonly ledgerVersion: bigint;
};

export type CardReference = {
  readonly projectId: string;
  readonly cardId: string;
  /** What the card was made with: what it has until it is opened. */
  readonly initialPoints: bigint;
};

/** What a session holds of a card, until an instant of the project's time. */
export type PointsLock = {
  readonly projectId: string;
  readonly cardId: string;
  readonly sessionKey: string;
  readonly points: bigint;
  readonly lockedAt: number;
  readonly expiresAt: number;
};

export type SpendStatus = "PENDING" | "CONFIRMED" | "RETURNED";

/** Points that a redemption is to take: pending until it is known whether the redemption was made. */
export type PointsSpend = {
  readonly projectId: string;
  readonly id: string;
  readonly cardId: string;
  readonly points: bigint;
  readonly status: SpendStatus;
  readonly requestKey: string | null;
  readonly rewardId: string;
  readonly takesStock: boolean;
  readonly redemptionId: string | null;
  readonly sessionKey: string | null;
  /** What the session held that the spend took the place of. */
  readonly lockedPoints: bigint | null;
  readonly lockedUntil: number | null;
  /** In the project's time. */
  readonly at: number;
};

export type LedgerEntry = {
  readonly projectId: string;
  readonly cardId: string;
  readonly version: bigint;
  readonly type: "POINTS_REDEMPTION" | "POINTS_REFUND";
  /** Signed. */
  readonly points: bigint;
  readonly balanceAfter: bigint;
  readonly cause: string;
  readonly redemptionId: string | null;
  readonly rollbackId: string | null;
  readonly rewardId: string | null;
  readonly at: number;
};

/** One string for what is found by its project and something else. */
export const keyOf = (projectId: string, ...names: readonly string[]): string =>
  JSON.stringify([projectId, ...names]);

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

/** What can be spent: a spend counts from the moment that it holds its points. */
export const spendable = ({ balance, heldPoints }: Card): bigint => balance - heldPoints;

/** Points that others' sessions hold at this instant. */
export function lockedByOthers(
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

/** The card and its ledger after the redemption that held these points was made. */
export function takeHeld(
  card: Card,
  spend: Pick<PointsSpend, "id" | "points" | "rewardId" | "at">,
  redemptionId: string,
): { readonly card: Card; readonly entry: LedgerEntry } {
  const { points } = spend;
  const after: Card = {
    ...card,
    redeemedPoints: card.redeemedPoints + points,
    balance: card.balance - points,
    heldPoints: card.heldPoints - points,
    ledgerVersion: card.ledgerVersion + 1n,
  };
  const what = { type: "POINTS_REDEMPTION" as const, points: -points, cause: spend.id };
  const why = { redemptionId, rollbackId: null, rewardId: spend.rewardId, at: spend.at };
  return { card: after, entry: entryOf(after, { ...what, ...why }) };
}

/** The card and its ledger after a redemption was taken back. */
export function refundPoints(
  card: Card,
  spend: Pick<PointsSpend, "points" | "rewardId">,
  {
    redemptionId,
    rollbackId,
    at,
  }: { readonly redemptionId: string; readonly rollbackId: string; readonly at: number },
): { readonly card: Card; readonly entry: LedgerEntry } {
  const { points } = spend;
  const after: Card = {
    ...card,
    redeemedPoints: card.redeemedPoints - points,
    balance: card.balance + points,
    ledgerVersion: card.ledgerVersion + 1n,
  };
  const what = { type: "POINTS_REFUND" as const, points, cause: rollbackId };
  return {
    card: after,
    entry: entryOf(after, { ...what, redemptionId, rollbackId, rewardId: spend.rewardId, at }),
  };
}

const entryOf = (
  { projectId, id, ledgerVersion, balance }: Card,
  rest: Omit<LedgerEntry, "projectId" | "cardId" | "version" | "balanceAfter">,
): LedgerEntry => ({
  projectId,
  cardId: id,
  version: ledgerVersion,
  balanceAfter: balance,
  ...rest,
});
