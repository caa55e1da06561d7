import type { Queryable } from "@scrip/postgres";

import type { Deps } from "../deps.ts";
import {
  type Card,
  keyOf,
  lockedByOthers,
  type PointsLock,
  type PointsSpend,
  refundPoints,
  spendable,
  takeHeld,
} from "../domain/card.ts";
import {
  findCauses,
  insertEntries,
  lockCards,
  type NewLedgerEntry,
  saveCards,
} from "../store/cards.ts";
import { endSpends, findSpends, type PointsHoldResolution } from "../store/points-holds.ts";
import { findLocksOfCards, putLocks } from "../store/points-locks.ts";
import { moveStocks } from "../store/rewards.ts";

/** How a spend ends: with the redemption that took the points, or without one. */
export type End = {
  readonly projectId: string;
  readonly spendId: string;
  readonly redemptionId: string | null;
};

export type Refund = {
  readonly projectId: string;
  readonly spendId: string;
  readonly redemptionId: string;
  readonly rollbackId: string;
  readonly at: number;
};

/**
 * Ends spends and gives points of rollbacks back, each once, however often it is told: a spend that has
 * ended stays ended, and a rollback is in the ledger once. A refund that comes before the end of its spend
 * ends it first.
 */
export async function settle(
  { db, newId }: Pick<Deps, "db" | "newId">,
  work: { readonly ends?: readonly End[]; readonly refunds?: readonly Refund[] },
): Promise<void> {
  const { ends = [], refunds = [] } = work;
  const names = [...ends, ...refunds].map(({ projectId, spendId: id }) => ({ projectId, id }));
  const known = await findSpends(db, names);
  if (known.length === 0) return;
  await db.transaction(async (tx) => {
    const cards = new Map(await lockCards(tx, known));
    // Under the locks, so that what somebody else ended meanwhile is seen as such.
    const [spends, causes, locks] = await Promise.all([
      findSpends(tx, names),
      findCauses(tx, causesOf(known, refunds)),
      findLocksOfCards(tx, known),
    ]);
    const draft: Draft = {
      cards,
      spends: new Map(spends.map((spend) => [keyOf(spend.projectId, spend.id), spend])),
      causes: new Set(causes),
      locks,
      newId: () => newId("vtx"),
      ended: [],
      entries: [],
      restored: [],
      stocks: [],
    };
    for (const end of ends) endSpend(draft, end);
    for (const refund of refunds) refundSpend(draft, refund);
    await write(tx, draft);
  });
}

function causesOf(spends: readonly PointsSpend[], refunds: readonly Refund[]) {
  const cards = new Map(spends.map((spend) => [keyOf(spend.projectId, spend.id), spend.cardId]));
  return refunds.flatMap(({ projectId, spendId, rollbackId: cause }) => {
    const cardId = cards.get(keyOf(projectId, spendId));
    return cardId === undefined ? [] : [{ projectId, cardId, cause }];
  });
}

type Known = {
  readonly cards: Map<string, Card>;
  /** By `keyOf` of project and spend. */
  readonly spends: Map<string, PointsSpend>;
  readonly causes: Set<string>;
  readonly locks: readonly PointsLock[];
  readonly newId: () => string;
};

/** What is changed, as far as it was worked out. */
type Draft = Known & {
  readonly ended: PointsHoldResolution[];
  readonly entries: NewLedgerEntry[];
  readonly restored: PointsLock[];
  readonly stocks: { readonly projectId: string; readonly rewardId: string; readonly by: -1 }[];
};

function cardOf({ cards }: Draft, { projectId, cardId }: PointsSpend): Card {
  const card = cards.get(keyOf(projectId, cardId));
  if (card === undefined) throw new Error(`card ${cardId} was not locked`);
  return card;
}

const put = ({ cards }: Draft, card: Card): void =>
  void cards.set(keyOf(card.projectId, card.id), card);

function finish(
  { spends, ended }: Draft,
  spend: PointsSpend,
  end: Pick<PointsHoldResolution, "status" | "redemptionId">,
): void {
  const { projectId, id } = spend;
  spends.set(keyOf(projectId, id), { ...spend, ...end });
  ended.push({ projectId, id, ...end });
}

function giveStockBack({ stocks }: Draft, { projectId, rewardId, takesStock }: PointsSpend): void {
  if (takesStock) stocks.push({ projectId, rewardId, by: -1 });
}

function endSpend(draft: Draft, { projectId, spendId, redemptionId }: End): void {
  const spend = draft.spends.get(keyOf(projectId, spendId));
  if (spend === undefined || spend.status !== "PENDING") return;
  const card = cardOf(draft, spend);
  if (redemptionId !== null) {
    const taken = takeHeld(card, spend, redemptionId);
    put(draft, taken.card);
    draft.entries.push({ ...taken.entry, id: draft.newId() });
    finish(draft, spend, { status: "CONFIRMED", redemptionId });
    return;
  }
  const after = { ...card, heldPoints: card.heldPoints - spend.points };
  put(draft, after);
  finish(draft, spend, { status: "RETURNED", redemptionId: null });
  giveStockBack(draft, spend);
  const lock = lockAgain(spend, after, [...draft.locks, ...draft.restored]);
  if (lock !== null) draft.restored.push(lock);
}

function refundSpend(draft: Draft, refund: Refund): void {
  const { projectId, spendId, rollbackId } = refund;
  endSpend(draft, refund);
  const spend = draft.spends.get(keyOf(projectId, spendId));
  if (spend === undefined || spend.status !== "CONFIRMED") return;
  const cause = keyOf(projectId, spend.cardId, rollbackId);
  if (draft.causes.has(cause)) return;
  draft.causes.add(cause);
  const given = refundPoints(cardOf(draft, spend), spend, refund);
  put(draft, given.card);
  draft.entries.push({ ...given.entry, id: draft.newId() });
  giveStockBack(draft, spend);
}

async function write(
  tx: Queryable,
  { cards, entries, ended, restored, stocks }: Draft,
): Promise<void> {
  if (ended.length === 0 && entries.length === 0) return;
  await Promise.all([
    saveCards(tx, [...cards.values()]),
    insertEntries(tx, entries),
    endSpends(tx, ended),
    putLocks(tx, restored),
    moveStocks(tx, stocks),
  ]);
}

/** A failed redemption leaves its session what it held, as far as nobody took it up meanwhile (§7.5). */
function lockAgain(
  spend: PointsSpend,
  card: Card,
  locks: readonly PointsLock[],
): PointsLock | null {
  const { projectId, cardId, sessionKey, lockedPoints, lockedUntil, at } = spend;
  if (sessionKey === null || lockedPoints === null || lockedUntil === null) return null;
  const ofCard = locks.filter((lock) => lock.projectId === projectId && lock.cardId === cardId);
  if (ofCard.some((lock) => lock.sessionKey === sessionKey)) return null;
  const free = spendable(card) - lockedByOthers(ofCard, { sessionKey, now: at });
  const points = lockedPoints < free ? lockedPoints : free;
  if (points <= 0n) return null;
  return { projectId, cardId, sessionKey, points, lockedAt: at, expiresAt: lockedUntil };
}
