import type { CardBalances, LoadedCard } from "@scrip/proto/scrip/loyalty/v1/cards_pb";

import { availablePoints, type Card, type PointsHold } from "../domain/card.ts";
import type { AssignmentRow } from "../store/reward-assignments.ts";
import type { RewardRow } from "../store/rewards.ts";
import { rewardAssignmentToProto } from "./reward-assignment.ts";
import { rewardToProto } from "./reward.ts";

/** Held points count as spent. */
export const cardBalancesToProto = (card: Card): CardBalances => ({
  $typeName: "scrip.loyalty.v1.CardBalances",
  points: card.points,
  balance: availablePoints(card),
  redeemedPoints: card.redeemedPoints + card.heldPoints,
  expiredPoints: card.expiredPoints,
  subtractedPoints: card.subtractedPoints,
  pendingPoints: card.pendingPoints,
  ...(card.nextExpiresOn !== null && {
    nextExpirationDate: card.nextExpiresOn,
    nextExpirationPoints: card.nextExpiringPoints,
  }),
});

/** The state of a card for one request, together with the requested reward. */
export type CardState = {
  readonly card: Card;
  readonly lockedPoints: bigint;
  readonly reward: RewardRow | undefined;
  readonly assignment: AssignmentRow | undefined;
  /** The tier that decides on the price of the reward. */
  readonly tierId: string | null;
  /** Pending holds of an earlier attempt of the same request: on this card, and on all its cards. */
  readonly ownHolds: readonly PointsHold[];
  readonly requestHolds: readonly PointsHold[];
};

/** A retry sees balance and stock without the holds of its earlier attempt. */
export function loadedCardToProto(state: CardState): LoadedCard {
  const { card, lockedPoints, reward, assignment, tierId, ownHolds, requestHolds } = state;
  const balances = cardBalancesToProto(card);
  const heldPoints = ownHolds.reduce((sum, { points }) => sum + points, 0n);
  return {
    $typeName: "scrip.loyalty.v1.LoadedCard",
    balances: { ...balances, balance: balances.balance + heldPoints },
    lockedPoints,
    ...(reward !== undefined && { reward: rewardToProto(withoutHolds(reward, requestHolds)) }),
    ...(reward !== undefined &&
      assignment !== undefined && { assignment: rewardAssignmentToProto(assignment) }),
    ...(tierId !== null && { loyaltyTierId: tierId }),
  };
}

function withoutHolds(reward: RewardRow, holds: readonly PointsHold[]): RewardRow {
  const taken = holds.filter(({ rewardId, takesStock }) => takesStock && rewardId === reward.id);
  return { ...reward, redeemed: reward.redeemed - BigInt(taken.length) };
}
