import type { Queryable } from "@scrip/postgres";
import type {
  CardQuery,
  CardService,
  CardsQuery,
  LoadedCard,
} from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import {
  type Card,
  keyOf,
  lockedByOthers,
  newCard,
  type PointsLock,
  type PointsSpend,
} from "../domain/card.ts";
import { instantIn, toFigures } from "../mapping/card.ts";
import { toAssignment, toReward } from "../mapping/reward.ts";
import { findCards } from "../store/cards.ts";
import { findPendingOfCards } from "../store/points-holds.ts";
import { findLocksOfCards } from "../store/points-locks.ts";
import { type AssignmentRow, findAssigned } from "../store/reward-assignments.ts";
import { findRewards, type RewardRow } from "../store/rewards.ts";

/** One statement for each kind of thing, however many cards are asked for. */
export const loadCards =
  (deps: Deps): Handler<typeof CardService.method.loadCards> =>
  async ({ queries }) => {
    const found = await gather(deps, queries);
    return {
      $typeName: "scrip.loyalty.v1.LoadCardsResponse",
      results: queries.map((query) => ({
        $typeName: "scrip.loyalty.v1.CardsResult" as const,
        cards: answersOf(query, found),
      })),
    };
  };

type Found = {
  readonly cards: ReadonlyMap<string, Card>;
  readonly locks: ReadonlyMap<string, readonly PointsLock[]>;
  readonly pending: ReadonlyMap<string, readonly PointsSpend[]>;
  readonly assigned: ReadonlyMap<string, AssignmentRow>;
  readonly rewards: ReadonlyMap<string, RewardRow>;
};

/**
 * As they all were at one instant: a spend moves points from a session to the card, and a card that is read
 * before with a session that is read after would lack what nobody took.
 */
const gather = ({ db }: Deps, queries: readonly CardsQuery[]): Promise<Found> =>
  db.transaction(async (tx) => {
    const [, found] = await Promise.all([
      tx.query("set transaction isolation level repeatable read, read only"),
      find(tx, queries),
    ]);
    return found;
  });

async function find(db: Queryable, queries: readonly CardsQuery[]): Promise<Found> {
  const names = queries.flatMap(({ projectId, cards }) =>
    cards.map(({ cardId }) => ({ projectId, cardId })),
  );
  const repeated = queries.flatMap(({ projectId, requestKey, cards }) =>
    requestKey === undefined ? [] : cards.map(({ cardId }) => ({ projectId, cardId })),
  );
  const chosen = queries.flatMap(({ projectId, cards }) =>
    cards.flatMap(({ campaignId, rewardId }) =>
      campaignId === undefined || rewardId === undefined
        ? []
        : [{ projectId, campaignId, rewardId }],
    ),
  );
  const [cards, locks, pending, assigned, rewards] = await Promise.all([
    findCards(db, names),
    findLocksOfCards(db, names),
    findPendingOfCards(db, repeated),
    findAssigned(db, chosen),
    findRewards(db, chosen),
  ]);
  return {
    cards,
    locks: Map.groupBy(locks, ({ projectId, cardId }) => keyOf(projectId, cardId)),
    pending: Map.groupBy(pending, ({ projectId, cardId }) => keyOf(projectId, cardId)),
    assigned,
    rewards,
  };
}

function answersOf(query: CardsQuery, found: Found): LoadedCard[] {
  const { projectId, requestKey } = query;
  const own = new Map(
    query.cards.map(({ cardId }) => {
      const pending = found.pending.get(keyOf(projectId, cardId)) ?? [];
      return [cardId, ownSpends(pending, requestKey)];
    }),
  );
  const all = [...own.values()].flat();
  return query.cards.map((question) =>
    answerOf(query, question, { ...found, own: own.get(question.cardId) ?? [], all }),
  );
}

/** What an earlier try of the same request holds. */
const ownSpends = (
  pending: readonly PointsSpend[],
  requestKey: string | undefined,
): readonly PointsSpend[] =>
  requestKey === undefined ? [] : pending.filter((spend) => spend.requestKey === requestKey);

/** `own` of this card, `all` of all cards of the request. */
type Own = { readonly own: readonly PointsSpend[]; readonly all: readonly PointsSpend[] };

function answerOf(query: CardsQuery, question: CardQuery, found: Found & Own): LoadedCard {
  const { projectId, sessionKey = null } = query;
  const { cardId, initialPoints, campaignId, rewardId = "" } = question;
  const key = keyOf(projectId, cardId);
  const card = found.cards.get(key) ?? newCard({ projectId, cardId, initialPoints });
  const locks = found.locks.get(key) ?? [];
  const figures = toFigures(card);
  const assignment = found.assigned.get(keyOf(projectId, campaignId ?? "", rewardId));
  const reward = assignment && found.rewards.get(keyOf(projectId, rewardId));
  return {
    $typeName: "scrip.loyalty.v1.LoadedCard",
    balances: { ...figures, balance: figures.balance + sumOf(found.own) },
    lockedPoints: lockedByOthers(locks, { sessionKey, now: instantIn(query) }),
    ...(reward !== undefined && { reward: toReward(without(found.all, reward)) }),
    ...(reward !== undefined &&
      assignment !== undefined && { assignment: toAssignment(assignment) }),
  };
}

const sumOf = (spends: readonly PointsSpend[]): bigint =>
  spends.reduce((sum, { points }) => sum + points, 0n);

/** A try that took the last one must not leave its repeat without. */
function without(own: readonly PointsSpend[], reward: RewardRow): RewardRow {
  const taken = own.filter(({ rewardId, takesStock }) => takesStock && rewardId === reward.id);
  return { ...reward, redeemed: reward.redeemed - BigInt(taken.length) };
}
