import type {
  CardQuestion,
  CardService,
  CardsQuery,
  GatheredCard,
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
import { findCards } from "../store/cards.ts";
import { findLocksOfCards } from "../store/points-locks.ts";
import { type AssignmentRow, findAssigned } from "../store/reward-assignments.ts";
import { findRewards, type RewardRow } from "../store/rewards.ts";
import { findPendingOfCards } from "../store/spends.ts";
import { instantIn, toFigures } from "./card-message.ts";
import { toAssignment, toReward } from "./reward-message.ts";

/** One statement for each kind of thing, however many cards are asked for. */
export const gatherCards =
  (deps: Deps): Handler<typeof CardService.method.gatherCards> =>
  async ({ queries }) => {
    const found = await gather(deps, queries);
    return {
      $typeName: "scrip.loyalty.v1.GatherCardsResponse",
      answers: queries.map((query) => ({
        $typeName: "scrip.loyalty.v1.CardsAnswer" as const,
        cards: query.cards.map((question) => answerOf(query, question, found)),
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

async function gather({ db }: Deps, queries: readonly CardsQuery[]): Promise<Found> {
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

function answerOf(query: CardsQuery, question: CardQuestion, found: Found): GatheredCard {
  const { projectId, sessionKey = null, requestKey } = query;
  const { cardId, initialPoints, campaignId, rewardId = "" } = question;
  const key = keyOf(projectId, cardId);
  const card = found.cards.get(key) ?? newCard({ projectId, cardId, initialPoints });
  const locks = found.locks.get(key) ?? [];
  const figures = toFigures(card);
  const own = ownPoints(found.pending.get(key) ?? [], requestKey);
  const assignment = found.assigned.get(keyOf(projectId, campaignId ?? "", rewardId));
  const reward = assignment && found.rewards.get(keyOf(projectId, rewardId));
  return {
    $typeName: "scrip.loyalty.v1.GatheredCard",
    figures: { ...figures, balance: figures.balance + own },
    lockedPoints: lockedByOthers(locks, { sessionKey, now: instantIn(query) }),
    ...(reward !== undefined && { reward: toReward(reward) }),
    ...(reward !== undefined &&
      assignment !== undefined && { assignment: toAssignment(assignment) }),
  };
}

/** What an earlier try of the same request spends. */
const ownPoints = (pending: readonly PointsSpend[], requestKey: string | undefined): bigint =>
  pending.reduce(
    (sum, spend) =>
      requestKey !== undefined && spend.requestKey === requestKey ? sum + spend.points : sum,
    0n,
  );
