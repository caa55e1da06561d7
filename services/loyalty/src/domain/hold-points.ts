import {
  type Card,
  holdPoints,
  pointsLockedByOthers,
  type PointsLock,
  type PointsHold,
  availablePoints,
} from "./card.ts";
import { keyOf } from "./key.ts";

/** Holds the points of one redemption: on all its cards, or on none. */
export type HoldPointsCommand = {
  readonly projectId: string;
  /** Current time of the project. */
  readonly now: number;
  readonly requestKey: string | null;
  readonly sessionKey: string | null;
  readonly parts: readonly PointsHoldPart[];
};

export type PointsHoldPart = {
  readonly cardId: string;
  readonly points: bigint;
  readonly rewardId: string;
  readonly takesStock: boolean;
};

/** Stock of a MATERIAL reward; null without a limit. */
export type Stock = { readonly stock: bigint | null; readonly redeemed: bigint };

export type HoldPointsState = {
  /** Locked cards, by `keyOf` of project and card. */
  readonly cards: ReadonlyMap<string, Card>;
  /** Session locks of the cards. */
  readonly locks: readonly PointsLock[];
  /** Pending holds of the cards. */
  readonly pending: readonly PointsHold[];
  /** By `keyOf` of project and reward. */
  readonly stocks: ReadonlyMap<string, Stock>;
  readonly newId: () => string;
};

export type HoldPointsDecision =
  | {
      readonly kind: "held";
      readonly holds: readonly { readonly hold: PointsHold; readonly card: Card }[];
    }
  | {
      readonly kind: "rejected";
      readonly part: number;
      readonly key: "loyalty_card_points_exceeded" | "reward_out_of_stock";
    };

export type HoldPointsResult = {
  /** In the order of the commands. */
  readonly decisions: readonly HoldPointsDecision[];
  /** New holds: without those of an earlier attempt. */
  readonly created: readonly PointsHold[];
  /** Changed cards. */
  readonly cards: ReadonlyMap<string, Card>;
  /** Session locks that new holds replace. */
  readonly replacedLocks: readonly PointsLock[];
};

type Draft = {
  readonly cards: Map<string, Card>;
  /** By card. */
  readonly locks: Map<string, readonly PointsLock[]>;
  readonly pending: Map<string, readonly PointsHold[]>;
  readonly stocks: Map<string, Stock>;
};

/**
 * Decides a batch of commands over locked cards (docs/gift-and-points.md#points-holds), in order of arrival:
 * each command sees the effects of those before it. A retry of a request finds its earlier holds.
 */
export function decidePointsHolds(
  commands: readonly HoldPointsCommand[],
  state: HoldPointsState,
): HoldPointsResult {
  let draft = createDraft(state);
  const changedCards = new Map<string, Card>();
  const created: PointsHold[] = [];
  const replacedLocks: PointsLock[] = [];
  const decisions = commands.map((command): HoldPointsDecision => {
    // A rejected command must change nothing; with one part, it has changed nothing yet.
    const trial = command.parts.length > 1 ? copyDraft(draft) : draft;
    const attempt = holdAllParts(command, trial, state.newId);
    if (attempt.decision.kind === "rejected") return attempt.decision;
    draft = attempt.draft;
    for (const hold of attempt.created) {
      created.push(hold);
      const cardKey = keyOf(hold.projectId, hold.cardId);
      const card = draft.cards.get(cardKey);
      if (card !== undefined) changedCards.set(cardKey, card);
    }
    replacedLocks.push(...attempt.replacedLocks);
    return attempt.decision;
  });
  return { decisions, created, cards: changedCards, replacedLocks };
}

const cardKeyOf = ({ projectId, cardId }: PointsLock | PointsHold): string =>
  keyOf(projectId, cardId);

const createDraft = ({ cards, locks, pending, stocks }: HoldPointsState): Draft => ({
  cards: new Map(cards),
  locks: Map.groupBy(locks, cardKeyOf),
  pending: Map.groupBy(pending, cardKeyOf),
  stocks: new Map(stocks),
});

const copyDraft = ({ cards, locks, pending, stocks }: Draft): Draft => ({
  cards: new Map(cards),
  locks: new Map(locks),
  pending: new Map(pending),
  stocks: new Map(stocks),
});

type Attempt = {
  readonly decision: HoldPointsDecision;
  readonly draft: Draft;
  readonly created: readonly PointsHold[];
  readonly replacedLocks: readonly PointsLock[];
};

function holdAllParts(command: HoldPointsCommand, draft: Draft, newId: () => string): Attempt {
  const holds: { hold: PointsHold; card: Card }[] = [];
  const created: PointsHold[] = [];
  const replacedLocks: PointsLock[] = [];
  for (const [index, part] of command.parts.entries()) {
    const result = holdPart(command, part, { draft, newId });
    if (result.kind === "rejected") {
      const decision = { kind: "rejected" as const, part: index, key: result.key };
      return { decision, draft, created: [], replacedLocks: [] };
    }
    holds.push({ hold: result.hold, card: result.card });
    if (result.isNew) created.push(result.hold);
    if (result.lock !== null) replacedLocks.push(result.lock);
  }
  return { decision: { kind: "held", holds }, draft, created, replacedLocks };
}

type HeldPart =
  | {
      readonly kind: "held";
      readonly hold: PointsHold;
      readonly card: Card;
      readonly isNew: boolean;
      readonly lock: PointsLock | null;
    }
  | {
      readonly kind: "rejected";
      readonly key: Extract<HoldPointsDecision, { kind: "rejected" }>["key"];
    };

function holdPart(
  command: HoldPointsCommand,
  part: PointsHoldPart,
  { draft, newId }: { readonly draft: Draft; readonly newId: () => string },
): HeldPart {
  const { projectId, sessionKey, requestKey, now } = command;
  const cardKey = keyOf(projectId, part.cardId);
  const card = draft.cards.get(cardKey);
  if (card === undefined) throw new Error(`card ${part.cardId} was not locked`);
  const pending = draft.pending.get(cardKey) ?? [];
  const earlier = requestKey === null ? undefined : findEarlierHold(command, part, pending);
  if (earlier !== undefined) return { kind: "held", hold: earlier, card, isNew: false, lock: null };

  const locks = draft.locks.get(cardKey) ?? [];
  const free = availablePoints(card) - pointsLockedByOthers(locks, { sessionKey, now });
  if (part.points > free) return { kind: "rejected", key: "loyalty_card_points_exceeded" };
  if (part.takesStock && !takeFromStock(keyOf(projectId, part.rewardId), draft.stocks)) {
    return { kind: "rejected", key: "reward_out_of_stock" };
  }
  const lock = locks.find((own) => own.sessionKey === sessionKey && own.expiresAt > now) ?? null;
  const hold: PointsHold = {
    projectId,
    id: newId(),
    cardId: part.cardId,
    points: part.points,
    status: "PENDING",
    requestKey,
    rewardId: part.rewardId,
    takesStock: part.takesStock,
    quantity: 1n,
    redemptionId: null,
    sessionKey,
    lockedPoints: lock?.points ?? null,
    lockedUntil: lock?.expiresAt ?? null,
    automatic: false,
    at: now,
  };
  const after = holdPoints(card, part.points);
  draft.cards.set(cardKey, after);
  draft.pending.set(cardKey, [...pending, hold]);
  if (lock !== null)
    draft.locks.set(
      cardKey,
      locks.filter((other) => other !== lock),
    );
  return { kind: "held", hold, card: after, isNew: true, lock };
}

const findEarlierHold = (
  { requestKey }: HoldPointsCommand,
  { points, rewardId }: PointsHoldPart,
  pending: readonly PointsHold[],
): PointsHold | undefined =>
  pending.find(
    (hold) =>
      hold.requestKey === requestKey && hold.points === points && hold.rewardId === rewardId,
  );

/** Returns whether there was one left; a deleted reward has none. */
function takeFromStock(rewardKey: string, stocks: Map<string, Stock>): boolean {
  const known = stocks.get(rewardKey);
  if (known === undefined) return false;
  if (known.stock !== null && known.redeemed >= known.stock) return false;
  stocks.set(rewardKey, { ...known, redeemed: known.redeemed + 1n });
  return true;
}
