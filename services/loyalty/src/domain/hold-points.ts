import {
  type Card,
  holdPoints,
  keyOf,
  lockedByOthers,
  type PointsLock,
  type PointsSpend,
  spendable,
} from "./card.ts";

/** A request to hold the points of a redemption: of all its cards, or of none. */
export type HoldPointsCommand = {
  readonly projectId: string;
  /** In the project's time. */
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

/** Of a reward of which there may not be enough; null without a limit. */
export type Stock = { readonly stock: bigint | null; readonly redeemed: bigint };

export type SpendState = {
  /** As locked, by `keyOf` of project and card. */
  readonly cards: ReadonlyMap<string, Card>;
  /** Of these cards. */
  readonly locks: readonly PointsLock[];
  readonly pending: readonly PointsSpend[];
  /** By `keyOf` of project and reward. */
  readonly stocks: ReadonlyMap<string, Stock>;
  readonly newId: () => string;
};

export type SpendDecision =
  | {
      readonly kind: "spent";
      readonly spends: readonly { readonly spend: PointsSpend; readonly card: Card }[];
    }
  | {
      readonly kind: "refused";
      readonly part: number;
      readonly key: "loyalty_card_points_exceeded" | "reward_out_of_stock";
    };

export type SpendsDecided = {
  /** In the order of the commands. */
  readonly decisions: readonly SpendDecision[];
  /** Those that were not there before, and the cards and rewards that they change. */
  readonly made: readonly PointsSpend[];
  readonly cards: ReadonlyMap<string, Card>;
  readonly stocks: ReadonlyMap<string, Stock>;
  /** Locks that spends took the place of. */
  readonly replaced: readonly PointsLock[];
};

type Draft = {
  readonly cards: Map<string, Card>;
  /** By card. */
  readonly locks: Map<string, readonly PointsLock[]>;
  readonly pending: Map<string, readonly PointsSpend[]>;
  readonly stocks: Map<string, Stock>;
};

/**
 * Decides a batch of commands over the locked cards in the order of their arrival, each on what the ones
 * before it left. A repeat of a request finds what its first try holds.
 */
export function decideSpends(
  commands: readonly HoldPointsCommand[],
  state: SpendState,
): SpendsDecided {
  let draft = draftOf(state);
  const touchedCards = new Map<string, Card>();
  const touchedStocks = new Map<string, Stock>();
  const made: PointsSpend[] = [];
  const replaced: PointsLock[] = [];
  const decisions = commands.map((command): SpendDecision => {
    // What cannot be taken changes nothing; only what came before it in the same command would.
    const trial = command.parts.length > 1 ? copyOf(draft) : draft;
    const attempt = takeAll(command, trial, state.newId);
    if (attempt.decision.kind === "refused") return attempt.decision;
    draft = attempt.draft;
    for (const spend of attempt.made) {
      made.push(spend);
      const cardKey = keyOf(spend.projectId, spend.cardId);
      const card = draft.cards.get(cardKey);
      if (card !== undefined) touchedCards.set(cardKey, card);
      const rewardKey = keyOf(spend.projectId, spend.rewardId);
      const stock = draft.stocks.get(rewardKey);
      if (spend.takesStock && stock !== undefined) touchedStocks.set(rewardKey, stock);
    }
    replaced.push(...attempt.replaced);
    return attempt.decision;
  });
  return { decisions, made, cards: touchedCards, stocks: touchedStocks, replaced };
}

const cardOf = ({ projectId, cardId }: PointsLock | PointsSpend): string =>
  keyOf(projectId, cardId);

const draftOf = ({ cards, locks, pending, stocks }: SpendState): Draft => ({
  cards: new Map(cards),
  locks: Map.groupBy(locks, cardOf),
  pending: Map.groupBy(pending, cardOf),
  stocks: new Map(stocks),
});

const copyOf = ({ cards, locks, pending, stocks }: Draft): Draft => ({
  cards: new Map(cards),
  locks: new Map(locks),
  pending: new Map(pending),
  stocks: new Map(stocks),
});

type Attempt = {
  readonly decision: SpendDecision;
  readonly draft: Draft;
  readonly made: readonly PointsSpend[];
  readonly replaced: readonly PointsLock[];
};

function takeAll(command: HoldPointsCommand, draft: Draft, newId: () => string): Attempt {
  const spends: { spend: PointsSpend; card: Card }[] = [];
  const made: PointsSpend[] = [];
  const replaced: PointsLock[] = [];
  for (const [part, one] of command.parts.entries()) {
    const taken = take(command, one, { draft, newId });
    if (taken.kind === "refused") {
      const decision = { kind: "refused" as const, part, key: taken.key };
      return { decision, draft, made: [], replaced: [] };
    }
    spends.push({ spend: taken.spend, card: taken.card });
    if (taken.isNew) made.push(taken.spend);
    if (taken.lock !== null) replaced.push(taken.lock);
  }
  return { decision: { kind: "spent", spends }, draft, made, replaced };
}

type Taken =
  | {
      readonly kind: "taken";
      readonly spend: PointsSpend;
      readonly card: Card;
      readonly isNew: boolean;
      readonly lock: PointsLock | null;
    }
  | {
      readonly kind: "refused";
      readonly key: Extract<SpendDecision, { kind: "refused" }>["key"];
    };

function take(
  command: HoldPointsCommand,
  part: PointsHoldPart,
  { draft, newId }: { readonly draft: Draft; readonly newId: () => string },
): Taken {
  const { projectId, sessionKey, requestKey, now } = command;
  const cardKey = keyOf(projectId, part.cardId);
  const card = draft.cards.get(cardKey);
  if (card === undefined) throw new Error(`card ${part.cardId} was not locked`);
  const pending = draft.pending.get(cardKey) ?? [];
  const earlier = requestKey === null ? undefined : findEarlier(command, part, pending);
  if (earlier !== undefined)
    return { kind: "taken", spend: earlier, card, isNew: false, lock: null };

  const locks = draft.locks.get(cardKey) ?? [];
  const free = spendable(card) - lockedByOthers(locks, { sessionKey, now });
  if (part.points > free) return { kind: "refused", key: "loyalty_card_points_exceeded" };
  if (part.takesStock && !takeStock(keyOf(projectId, part.rewardId), draft.stocks)) {
    return { kind: "refused", key: "reward_out_of_stock" };
  }
  const lock = locks.find((one) => one.sessionKey === sessionKey && one.expiresAt > now) ?? null;
  const spend: PointsSpend = {
    projectId,
    id: newId(),
    cardId: part.cardId,
    points: part.points,
    status: "PENDING",
    requestKey,
    rewardId: part.rewardId,
    takesStock: part.takesStock,
    redemptionId: null,
    sessionKey,
    lockedPoints: lock?.points ?? null,
    lockedUntil: lock?.expiresAt ?? null,
    at: now,
  };
  const after = holdPoints(card, part.points);
  draft.cards.set(cardKey, after);
  draft.pending.set(cardKey, [...pending, spend]);
  if (lock !== null)
    draft.locks.set(
      cardKey,
      locks.filter((one) => one !== lock),
    );
  return { kind: "taken", spend, card: after, isNew: true, lock };
}

const findEarlier = (
  { requestKey }: HoldPointsCommand,
  { points, rewardId }: PointsHoldPart,
  pending: readonly PointsSpend[],
): PointsSpend | undefined =>
  pending.find(
    (spend) =>
      spend.requestKey === requestKey && spend.points === points && spend.rewardId === rewardId,
  );

/** Answers whether there was one left. A reward that is gone has none. */
function takeStock(rewardKey: string, stocks: Map<string, Stock>): boolean {
  const known = stocks.get(rewardKey);
  if (known === undefined) return false;
  if (known.stock !== null && known.redeemed >= known.stock) return false;
  stocks.set(rewardKey, { ...known, redeemed: known.redeemed + 1n });
  return true;
}
