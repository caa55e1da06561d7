import { type Account, debitAccount, refundAccount } from "./account.ts";
import {
  availablePoints,
  type Card,
  type LotChange,
  type NewLedgerEntry,
  type PointsHold,
  type PointsHoldStatus,
  type PointsLock,
  pointsLockedByOthers,
} from "./card.ts";
import { keyOf } from "./key.ts";
import type { LocalDate } from "./local-date.ts";

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

/** Where refunded points go whose lot has expired since the redemption. */
export type RefundDate = {
  readonly today: LocalDate;
  /** The date that the program's rules give today; null: the points never expire. */
  readonly expiresOn: LocalDate | null;
};

export type ResolveHoldsState = {
  /** Locked cards, by `keyOf` of project and card; with their lots where a hold may have taken from them. */
  readonly accounts: ReadonlyMap<string, Account>;
  readonly holds: readonly PointsHold[];
  /** Causes of existing ledger entries, by `keyOf` of project, card and cause. */
  readonly causes: ReadonlySet<string>;
  /** Session locks of the cards. */
  readonly locks: readonly PointsLock[];
  /** What claimed holds took from lots, by `keyOf` of project and hold. */
  readonly taken: ReadonlyMap<string, readonly LotChange[]>;
  /** For refunds of points that were taken from lots, by `keyOf` of project and rollback. */
  readonly refundDates: ReadonlyMap<string, RefundDate>;
  readonly newId: () => string;
  readonly newLotId: () => string;
};

export type ResolveHoldsResult = {
  readonly accounts: ReadonlyMap<string, Account>;
  readonly entries: readonly NewLedgerEntry[];
  readonly resolved: readonly ResolvedPointsHold[];
  readonly restoredLocks: readonly PointsLock[];
  readonly stockChanges: readonly StockChange[];
};

export type StockChange = {
  readonly projectId: string;
  readonly rewardId: string;
  readonly by: bigint;
};

type Draft = {
  readonly accounts: Map<string, Account>;
  readonly holds: Map<string, PointsHold>;
  readonly causes: Set<string>;
  readonly taken: Map<string, readonly LotChange[]>;
  readonly state: ResolveHoldsState;
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
    accounts: new Map(state.accounts),
    holds: new Map(state.holds.map((hold) => [keyOf(hold.projectId, hold.id), hold])),
    causes: new Set(state.causes),
    taken: new Map(state.taken),
    state,
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
  const { points, rewardId, at, id } = hold;
  const { account, entry } = debitAccount(
    accountOf(draft, hold),
    { points, figure: "redeemedPoints" },
    { type: "POINTS_REDEMPTION", cause: id, redemptionId, rewardId, at },
  );
  putCard(draft, account, { heldPoints: account.card.heldPoints - points });
  if (entry.lots.length > 0) draft.taken.set(keyOf(hold.projectId, id), entry.lots);
  draft.entries.push({ ...entry, id: draft.state.newId() });
  markResolved(draft, hold, { status: "CONFIRMED", redemptionId });
}

function releaseHold(draft: Draft, hold: PointsHold): void {
  const account = accountOf(draft, hold);
  const heldPoints = account.card.heldPoints - hold.points;
  putCard(draft, account, { heldPoints });
  markResolved(draft, hold, { status: "RETURNED", redemptionId: null });
  returnStock(draft, hold);
  const locks = [...draft.state.locks, ...draft.restoredLocks];
  const lock = restoredLock(hold, { ...account.card, heldPoints }, locks);
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
  const { points, rewardId } = hold;
  const date = draft.state.refundDates.get(keyOf(projectId, rollbackId));
  // Without a date the card has no lots, so that all points return to those that never expire.
  const taken = date === undefined ? [] : (draft.taken.get(keyOf(projectId, holdId)) ?? []);
  const { account, entry } = refundAccount(
    accountOf(draft, hold),
    { points, taken, today: date?.today ?? "", expiresOn: date?.expiresOn ?? null },
    {
      type: "POINTS_REFUND",
      cause: rollbackId,
      redemptionId: refund.redemptionId,
      rollbackId,
      rewardId,
      at: refund.at,
      newLotId: draft.state.newLotId,
    },
  );
  putCard(draft, account);
  draft.entries.push({ ...entry, id: draft.state.newId() });
  returnStock(draft, hold);
}

function accountOf({ accounts }: Draft, { projectId, cardId }: PointsHold): Account {
  const account = accounts.get(keyOf(projectId, cardId));
  if (account === undefined) throw new Error(`card ${cardId} was not locked`);
  return account;
}

function putCard(
  { accounts }: Draft,
  { card, lots }: Account,
  changes: Pick<Card, "heldPoints"> = card,
): void {
  const { heldPoints } = changes;
  accounts.set(keyOf(card.projectId, card.id), { card: { ...card, heldPoints }, lots });
}

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
  { projectId, rewardId, takesStock, quantity }: PointsHold,
): void {
  if (takesStock) stockChanges.push({ projectId, rewardId, by: -quantity });
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
