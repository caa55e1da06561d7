import {
  CardService,
  type CardsQuery,
  GatherCardsRequestSchema,
  type PointsRelease,
  type PointsReservationCommand,
  ReleasePointsRequestSchema,
  ReservePointsRequestSchema,
  type SpendCommand,
  SpendPointsRequestSchema,
} from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import {
  type AssignmentOfProject,
  FindRewardAssignmentsRequestSchema,
  RewardService,
} from "@scrip/proto/scrip/loyalty/v1/rewards_pb";
import {
  AbandonSpendsRequestSchema,
  RedemptionService,
  type SpendName,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import { clientOf, serviceCall } from "@scrip/rpc";

import { type Batched, WITHOUT_SINGLE_RETRY, type Transports } from "./batching.ts";

/** What is asked about the points of loyalty cards, and about rewards. */
export function cardClients({ loyalty, voucher }: Transports, batched: Batched) {
  const cards = clientOf(CardService, loyalty);
  const rewards = clientOf(RewardService, loyalty);
  const redemptions = clientOf(RedemptionService, voucher);
  return {
    gatherCards: batched("gather_cards", async (queries: readonly CardsQuery[]) => {
      const request = { $typeName: GatherCardsRequestSchema.typeName, queries: [...queries] };
      return (await cards.gatherCards(request, serviceCall())).answers;
    }),
    findRewardAssignment: batched(
      "find_reward_assignments",
      async (names: readonly AssignmentOfProject[]) => {
        const request = {
          $typeName: FindRewardAssignmentsRequestSchema.typeName,
          assignments: [...names],
        };
        return (await rewards.findRewardAssignments(request, serviceCall())).answers;
      },
    ),
    spendPoints: batched(
      "spend_points",
      async (commands: readonly SpendCommand[]) => {
        const request = { $typeName: SpendPointsRequestSchema.typeName, commands: [...commands] };
        return (await cards.spendPoints(request, serviceCall())).outcomes;
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
    releasePoints: batched("release_points", async (releases: readonly PointsRelease[]) => {
      const request = { $typeName: ReleasePointsRequestSchema.typeName, releases: [...releases] };
      await cards.releasePoints(request, serviceCall());
      return releases.map(() => undefined);
    }),
    abandonSpend: batched("abandon_spends", async (spends: readonly SpendName[]) => {
      const request = { $typeName: AbandonSpendsRequestSchema.typeName, spends: [...spends] };
      await redemptions.abandonSpends(request, serviceCall());
      return spends.map(() => undefined);
    }),
  };
}
