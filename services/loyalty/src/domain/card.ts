import type { LocalDate } from "./local-date.ts";

/** The balance of a loyalty card; every change of points locks its row. */
export type Card = {
  readonly projectId: string;
  readonly id: string;
  /** The loyalty program; null as long as no change named it. */
  readonly campaignId: string | null;
  /** Sum of all points ever added. */
  readonly points: bigint;
  readonly redeemedPoints: bigint;
  readonly subtractedPoints: bigint;
  readonly expiredPoints: bigint;
  readonly balance: bigint;
  /** The part of the balance that pending holds reserve. */
  readonly heldPoints: bigint;
  /** Granted points that are not active yet; neither in `points` nor in the balance. */
  readonly pendingPoints: bigint;
  /** Number of ledger entries. */
  readonly ledgerVersion: bigint;
  /** The hash of the entry `chainedVersion`: the last one, unless later entries have no hash yet. */
  readonly ledgerHash: Uint8Array | null;
  readonly chainedVersion: bigint;
  /** The earliest date of a lot that holds points, and the points of that date; null and 0 without one. */
  readonly nextExpiresOn: LocalDate | null;
  readonly nextExpiringPoints: bigint;
};

export type CardReference = {
  readonly projectId: string;
  readonly cardId: string;
  /** Points of the voucher at its creation: the balance of a card that is not open yet. */
  readonly initialPoints: bigint;
  /** The loyalty program, where the caller knows it. */
  readonly campaignId?: string | null | undefined;
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
  /** Number of rewards that the points pay for. */
  readonly quantity: bigint;
  readonly redemptionId: string | null;
  readonly sessionKey: string | null;
  /** Points and expiry of the session lock that the hold replaced. */
  readonly lockedPoints: bigint | null;
  readonly lockedUntil: number | null;
  /** Whether no request redeems the points. */
  readonly automatic: boolean;
  /** Time of the hold on the project's clock. */
  readonly at: number;
};

/** Points of a card that expire on a date; points without a lot never expire. */
export type Lot = {
  readonly id: string;
  /** The last day on which the points can be spent, in the project's time zone. */
  readonly expiresOn: LocalDate;
  /** Remaining points; of an expired lot, the expired points. */
  readonly points: bigint;
  readonly expired: boolean;
};

/** The points that an entry put into lots or took from them (negative). */
export type LotChange = { readonly expiresOn: LocalDate; readonly points: bigint };

export type LedgerEntryType =
  | "POINTS_ACCRUAL"
  | "PENDING_POINTS_ACTIVATION"
  | "POINTS_ADDITION"
  | "POINTS_REMOVAL"
  | "POINTS_REDEMPTION"
  | "POINTS_REFUND"
  | "POINTS_EXPIRATION"
  | "POINTS_TRANSFER_OUT"
  | "POINTS_TRANSFER_IN";

export type LedgerEntry = {
  readonly projectId: string;
  readonly cardId: string;
  readonly campaignId: string | null;
  readonly version: bigint;
  readonly type: LedgerEntryType;
  /** Negative where points were taken. */
  readonly points: bigint;
  readonly balanceAfter: bigint;
  /** Points of the card, less expired and subtracted ones, after the entry. */
  readonly totalAfter: bigint;
  /** The changes of lots; the rest of `points` changed points that never expire. */
  readonly lots: readonly LotChange[];
  /** The lots that have expired, for the event of the entry: it is not stored. */
  readonly expiredLots?: readonly Lot[];
  readonly cause: string;
  readonly redemptionId: string | null;
  readonly rollbackId: string | null;
  readonly rewardId: string | null;
  readonly source: string | null;
  readonly sourceId: string | null;
  readonly reason: string | null;
  /** The entry of the other card of a transfer. */
  readonly relatedId: string | null;
  /** What the transaction shows beside its balance, as JSON text: the order, the event, the earning rule, … */
  readonly details: string | null;
  readonly at: number;
};

export type NewLedgerEntry = LedgerEntry & { readonly id: string };

export const newCard = ({
  projectId,
  cardId,
  initialPoints,
  campaignId = null,
}: CardReference): Card => ({
  projectId,
  id: cardId,
  campaignId,
  points: initialPoints,
  redeemedPoints: 0n,
  subtractedPoints: 0n,
  expiredPoints: 0n,
  balance: initialPoints,
  heldPoints: 0n,
  pendingPoints: 0n,
  ledgerVersion: 0n,
  ledgerHash: null,
  chainedVersion: 0n,
  nextExpiresOn: null,
  nextExpiringPoints: 0n,
});

/** Everything that was put on the card and neither expired nor was removed: its balance and what was redeemed. */
export const totalPoints = ({ points, expiredPoints, subtractedPoints }: Card): bigint =>
  points - expiredPoints - subtractedPoints;

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

/** The entry of a change that resulted in this card. */
export const ledgerEntry = (
  card: Card,
  entry: Pick<LedgerEntry, "type" | "points" | "cause" | "at"> & Partial<LedgerEntry>,
): LedgerEntry => ({
  projectId: card.projectId,
  cardId: card.id,
  campaignId: card.campaignId,
  version: card.ledgerVersion,
  balanceAfter: card.balance,
  totalAfter: totalPoints(card),
  lots: [],
  redemptionId: null,
  rollbackId: null,
  rewardId: null,
  source: null,
  sourceId: null,
  reason: null,
  relatedId: null,
  details: null,
  ...entry,
});
