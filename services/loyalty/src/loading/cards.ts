import type { Queryable } from "@scrip/postgres";
import type { CardsQuery } from "@scrip/proto/scrip/loyalty/v1/cards_pb";

import type { Deps } from "../deps.ts";
import {
  type Card,
  newCard,
  type PointsHold,
  type PointsLock,
  pointsLockedByOthers,
} from "../domain/card.ts";
import { keyOf } from "../domain/key.ts";
import type { Tier } from "../domain/tiers/tier.ts";
import type { CardState } from "../mapping/card.ts";
import { projectTimeFromProto } from "../mapping/project-time.ts";
import { withoutDuePoints } from "../points/read-accounts.ts";
import { priceInTier } from "../reward/tier-price.ts";
import { findCards } from "../store/cards.ts";
import { findPendingHoldsOfCards } from "../store/points-holds.ts";
import { findLocksOfCards } from "../store/points-locks.ts";
import { type AssignmentRow, findAssignmentsOfCampaigns } from "../store/reward-assignments.ts";
import { findRewards, type RewardRow } from "../store/rewards.ts";
import { findHolderTiers, loadTiers } from "../tiers/holder-tiers.ts";
import type { ProjectTiers } from "./loyalty-tiers.ts";

/** Loads the cards of each query, in order, with one statement per table for the whole batch. */
export async function loadCardStates(
  deps: Pick<Deps, "db" | "tiers">,
  queries: readonly CardsQuery[],
): Promise<readonly (readonly CardState[])[]> {
  const snapshot = await loadSnapshot(deps, queries);
  return queries.map((query) => cardStates(query, snapshot));
}

type Snapshot = {
  readonly cards: ReadonlyMap<string, Card>;
  readonly locks: ReadonlyMap<string, readonly PointsLock[]>;
  readonly pendingHolds: ReadonlyMap<string, readonly PointsHold[]>;
  readonly assignments: ReadonlyMap<string, AssignmentRow>;
  readonly rewards: ReadonlyMap<string, RewardRow>;
  /** The tiers of cards that a reward is requested for. */
  readonly tiers: ReadonlyMap<string, Tier>;
};

/** One snapshot for all tables: a concurrent hold moves points from a session lock to the card. */
async function loadSnapshot(
  deps: Pick<Deps, "db" | "tiers">,
  queries: readonly CardsQuery[],
): Promise<Snapshot> {
  // Before the transaction, which has a connection already.
  const tiers = await loadTiers(deps, queries);
  return deps.db.transaction(async (tx) => {
    const [, snapshot] = await Promise.all([
      tx.query("set transaction isolation level repeatable read, read only"),
      findAll(tx, tiers, queries),
    ]);
    return snapshot;
  });
}

async function findAll(
  tx: Queryable,
  projectTiers: ReadonlyMap<string, ProjectTiers>,
  queries: readonly CardsQuery[],
): Promise<Snapshot> {
  const requestedCards = queries.flatMap(({ projectId, cards }) =>
    cards.map(({ cardId }) => ({ projectId, cardId })),
  );
  const cardsOfRetries = queries.flatMap(({ projectId, requestKey, cards }) =>
    requestKey === undefined ? [] : cards.map(({ cardId }) => ({ projectId, cardId })),
  );
  const requestedRewards = queries.flatMap(({ projectId, cards }) =>
    cards.flatMap(({ campaignId, rewardId }) =>
      campaignId === undefined || rewardId === undefined
        ? []
        : [{ projectId, campaignId, rewardId }],
    ),
  );
  const pricedCards = queries.flatMap(({ projectId, cards }) =>
    cards.flatMap(({ cardId, rewardId }) =>
      rewardId === undefined ? [] : [{ projectId, cardId }],
    ),
  );
  const times = new Map(queries.map((query) => [query.projectId, projectTimeFromProto(query)]));
  const [cards, locks, pendingHolds, assignments, rewards, tiers] = await Promise.all([
    findCards(tx, requestedCards).then((found) => withoutDuePoints(tx, found, times)),
    findLocksOfCards(tx, requestedCards),
    findPendingHoldsOfCards(tx, cardsOfRetries),
    findAssignmentsOfCampaigns(tx, requestedRewards),
    findRewards(tx, requestedRewards),
    findHolderTiers(tx, projectTiers, pricedCards),
  ]);
  return {
    cards,
    locks: Map.groupBy(locks, keyOfCard),
    pendingHolds: Map.groupBy(pendingHolds, keyOfCard),
    assignments,
    rewards,
    tiers,
  };
}

const keyOfCard = ({ projectId, cardId }: PointsLock | PointsHold): string =>
  keyOf(projectId, cardId);

function cardStates(query: CardsQuery, snapshot: Snapshot): readonly CardState[] {
  const { projectId, requestKey, sessionKey = null } = query;
  const ownHoldsOf = (cardId: string): readonly PointsHold[] =>
    requestKey === undefined
      ? []
      : (snapshot.pendingHolds.get(keyOf(projectId, cardId)) ?? []).filter(
          (hold) => hold.requestKey === requestKey,
        );
  const requestHolds = [...new Set(query.cards.map(({ cardId }) => cardId))].flatMap(ownHoldsOf);
  return query.cards.map(({ cardId, initialPoints, campaignId, rewardId = "" }) => {
    const key = keyOf(projectId, cardId);
    const assignment = snapshot.assignments.get(keyOf(projectId, campaignId ?? "", rewardId));
    const reward = assignment && snapshot.rewards.get(keyOf(projectId, rewardId));
    const tier = snapshot.tiers.get(key) ?? null;
    const priced = assignment && reward && priceInTier({ assignment, reward }, tier);
    return {
      card: snapshot.cards.get(key) ?? newCard({ projectId, cardId, initialPoints }),
      lockedPoints: pointsLockedByOthers(snapshot.locks.get(key) ?? [], {
        sessionKey,
        now: projectTimeFromProto(query),
      }),
      assignment: priced?.assignment,
      reward: priced?.reward,
      tierId: tier?.id ?? null,
      ownHolds: ownHoldsOf(cardId),
      requestHolds,
    };
  });
}
