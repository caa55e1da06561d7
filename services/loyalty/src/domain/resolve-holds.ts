import {
  availablePoints,
  type Card,
  claimHeldPoints,
  type LedgerEntry,
  type PointsHold,
  type PointsHoldStatus,
  type PointsLock,
  pointsLockedByOthers,
  refundPoints,
} from "./card.ts";
import { keyOf } from "./key.ts";

/** The end of a hold: claimed by its redemption, or released because there is none. */
export type HoldResolution = {
  readonly projectId: string;
  readonly holdId: string;
  /** Null: released. */
  readonly redemptionId: string | null;
};

/** The rollback of a redemption that claimed a hold. */
export type PointsRefund = {
  readonly projectId: string;
  readonly holdId: string;
  readonly redemptionId: string;
  readonly rollbackId: string;
  readonly at: number;
};

export type ResolvedPointsHold = {
  readonly projectId: string;
  readonly id: string;
  readonly status: Exclude<PointsHoldStatus, "PENDING">;
  readonly redemptionId: string | null;
};

export type NewLedgerEntry = LedgerEntry & { readonly id: string };

export type ResolveHoldsState = {
  /** Locked cards, by `keyOf` of project and card. */
  readonly cards: ReadonlyMap<string, Card>;
  readonly holds: readonly PointsHold[];
  /** Causes of existing ledger entries, by `keyOf` of project, card and cause. */
  readonly causes: ReadonlySet<string>;
  /** Session locks of the cards. */
  readonly locks: readonly PointsLock[];
  readonly newId: () => string;
};

export type ResolveHoldsResult = {
  readonly cards: ReadonlyMap<string, Card>;
  readonly entries: readonly NewLedgerEntry[];
  readonly resolved: readonly ResolvedPointsHold[];
  readonly restoredLocks: readonly PointsLock[];
  readonly stockChanges: readonly StockChange[];
};

export type StockChange = {
  readonly projectId: string;
  readonly rewardId: string;
  readonly by: -1;
};

type Draft = {
  readonly cards: Map<string, Card>;
  readonly holds: Map<string, PointsHold>;
  readonly causes: Set<string>;
  readonly locks: readonly PointsLock[];
  readonly newId: () => string;
  readonly resolved: ResolvedPointsHold[];
  readonly entries: NewLedgerEntry[];
  readonly restoredLocks: PointsLock[];
  readonly stockChanges: StockChange[];
};

/**
 * Resolves and refunds holds over locked cards (docs/gift-and-points.md#points-holds). A resolved hold
 * stays as it is and a rollback refunds once, so that repeats change nothing. A refund that arrives before
 * the claim of its hold claims it first.
 */
export function resolveHolds(
  state: ResolveHoldsState,
  {
    resolutions,
    refunds,
  }: { readonly resolutions: readonly HoldResolution[]; readonly refunds: readonly PointsRefund[] },
): ResolveHoldsResult {
  const draft: Draft = {
    cards: new Map(state.cards),
    holds: new Map(state.holds.map((hold) => [keyOf(hold.projectId, hold.id), hold])),
    causes: new Set(state.causes),
    locks: state.locks,
    newId: state.newId,
    resolved: [],
    entries: [],
    restoredLocks: [],
    stockChanges: [],
  };
  for (const resolution of resolutions) resolveHold(draft, resolution);
  for (const refund of refunds) refundHold(draft, refund);
  return draft;
}

function resolveHold(draft: Draft, { projectId, holdId, redemptionId }: HoldResolution): void {
  const hold = draft.holds.get(keyOf(projectId, holdId));
  if (hold === undefined || hold.status !== "PENDING") return;
  if (redemptionId === null) releaseHold(draft, hold);
  else claimHold(draft, hold, redemptionId);
}

function claimHold(draft: Draft, hold: PointsHold, redemptionId: string): void {
  const { card, entry } = claimHeldPoints(cardOf(draft, hold), hold, redemptionId);
  putCard(draft, card);
  draft.entries.push({ ...entry, id: draft.newId() });
  markResolved(draft, hold, { status: "CONFIRMED", redemptionId });
}

function releaseHold(draft: Draft, hold: PointsHold): void {
  const card = cardOf(draft, hold);
  const after = { ...card, heldPoints: card.heldPoints - hold.points };
  putCard(draft, after);
  markResolved(draft, hold, { status: "RETURNED", redemptionId: null });
  returnStock(draft, hold);
  const lock = restoredLock(hold, after, [...draft.locks, ...draft.restoredLocks]);
  if (lock !== null) draft.restoredLocks.push(lock);
}

function refundHold(draft: Draft, refund: PointsRefund): void {
  const { projectId, holdId, rollbackId } = refund;
  resolveHold(draft, refund);
  const hold = draft.holds.get(keyOf(projectId, holdId));
  if (hold === undefined || hold.status !== "CONFIRMED") return;
  const cause = keyOf(projectId, hold.cardId, rollbackId);
  if (draft.causes.has(cause)) return;
  draft.causes.add(cause);
  const { card, entry } = refundPoints(cardOf(draft, hold), hold, refund);
  putCard(draft, card);
  draft.entries.push({ ...entry, id: draft.newId() });
  returnStock(draft, hold);
}

function cardOf({ cards }: Draft, { projectId, cardId }: PointsHold): Card {
  const card = cards.get(keyOf(projectId, cardId));
  if (card === undefined) throw new Error(`card ${cardId} was not locked`);
  return card;
}

const putCard = ({ cards }: Draft, card: Card): void =>
  void cards.set(keyOf(card.projectId, card.id), card);

function markResolved(
  { holds, resolved }: Draft,
  hold: PointsHold,
  end: Pick<ResolvedPointsHold, "status" | "redemptionId">,
): void {
  const { projectId, id } = hold;
  holds.set(keyOf(projectId, id), { ...hold, ...end });
  resolved.push({ projectId, id, ...end });
}

function returnStock(
  { stockChanges }: Draft,
  { projectId, rewardId, takesStock }: PointsHold,
): void {
  if (takesStock) stockChanges.push({ projectId, rewardId, by: -1 });
}

/** The session lock that the hold replaced, as far as its points are still available (docs/sessions.md#locks). */
function restoredLock(
  hold: PointsHold,
  card: Card,
  locks: readonly PointsLock[],
): PointsLock | null {
  const { projectId, cardId, sessionKey, lockedPoints, lockedUntil, at } = hold;
  if (sessionKey === null || lockedPoints === null || lockedUntil === null) return null;
  const ofCard = locks.filter((lock) => lock.projectId === projectId && lock.cardId === cardId);
  if (ofCard.some((lock) => lock.sessionKey === sessionKey)) return null;
  const free = availablePoints(card) - pointsLockedByOthers(ofCard, { sessionKey, now: at });
  const points = lockedPoints < free ? lockedPoints : free;
  if (points <= 0n) return null;
  return { projectId, cardId, sessionKey, points, lockedAt: at, expiresAt: lockedUntil };
}
