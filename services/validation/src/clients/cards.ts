import {
  CardService,
  type CardsQuery,
  LoadCardsRequestSchema,
  type PointsRelease,
  type PointsReservationCommand,
  ReleasePointsRequestSchema,
  ReservePointsRequestSchema,
  type HoldPointsCommand,
  HoldPointsRequestSchema,
} from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import {
  type RewardAssignmentQuery,
  ResolveRewardAssignmentsRequestSchema,
  RewardService,
} from "@scrip/proto/scrip/loyalty/v1/rewards_pb";
import {
  ReleasePointsHoldsRequestSchema,
  RedemptionService,
  type PointsHoldKey,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import { clientOf, serviceCall } from "@scrip/rpc";

import { type Batched, WITHOUT_SINGLE_RETRY, type Transports } from "./batching.ts";

/**
 * Clients of the loyalty service for points and rewards, and of points holds in the voucher
 * service.
 */
export function cardClients({ loyalty, voucher }: Transports, batched: Batched) {
  const cards = clientOf(CardService, loyalty);
  const rewards = clientOf(RewardService, loyalty);
  const redemptions = clientOf(RedemptionService, voucher);
  // Points are released even if the deadline of the request has passed, so these calls have a deadline of their own.
  const releasePoints = batched("release_points", async (releases: readonly PointsRelease[]) => {
    const request = { $typeName: ReleasePointsRequestSchema.typeName, releases: [...releases] };
    await cards.releasePoints(request, serviceCall());
    return releases.map(() => undefined);
  });
  const releasePointsHold = batched(
    "release_points_holds",
    async (holds: readonly PointsHoldKey[]) => {
      const request = { $typeName: ReleasePointsHoldsRequestSchema.typeName, holds: [...holds] };
      await redemptions.releasePointsHolds(request, serviceCall());
      return holds.map(() => undefined);
    },
  );
  return {
    loadCards: batched("load_cards", async (queries: readonly CardsQuery[], call) => {
      const request = { $typeName: LoadCardsRequestSchema.typeName, queries: [...queries] };
      return (await cards.loadCards(request, call)).results;
    }),
    resolveRewardAssignment: batched(
      "resolve_reward_assignments",
      async (names: readonly RewardAssignmentQuery[], call) => {
        const request = {
          $typeName: ResolveRewardAssignmentsRequestSchema.typeName,
          queries: [...names],
        };
        return (await rewards.resolveRewardAssignments(request, call)).results;
      },
    ),
    holdPoints: batched(
      "hold_points",
      async (commands: readonly HoldPointsCommand[]) => {
        const request = { $typeName: HoldPointsRequestSchema.typeName, commands: [...commands] };
        return (await cards.holdPoints(request, serviceCall())).outcomes;
      },
      WITHOUT_SINGLE_RETRY,
    ),
    reservePoints: batched(
      "reserve_points",
      async (commands: readonly PointsReservationCommand[]) => {
        const request = { $typeName: ReservePointsRequestSchema.typeName, commands: [...commands] };
        return (await cards.reservePoints(request, serviceCall())).outcomes;
      },
      WITHOUT_SINGLE_RETRY,
    ),
    releasePoints: (release: PointsRelease) => releasePoints(release, serviceCall()),
    releasePointsHold: (hold: PointsHoldKey) => releasePointsHold(hold, serviceCall()),
  };
}
