import { create } from "@bufbuild/protobuf";
import { parsePage } from "@scrip/postgres";
import {
  ListMemberRewardsResponseSchema,
  type RewardService,
} from "@scrip/proto/scrip/loyalty/v1/rewards_pb";
import type { Call, Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { availablePoints } from "../domain/card.ts";
import { keyOf } from "../domain/key.ts";
import { rewardAssignmentToProto } from "../mapping/reward-assignment.ts";
import { rewardToProto } from "../mapping/reward.ts";
import { readCards } from "../points/read-accounts.ts";
import { requireMemberCard } from "../points/require-member-card.ts";
import { listPricedRewards } from "../reward/list-priced-rewards.ts";
import { type PricedReward, pointsNeeded } from "../reward/tier-price.ts";
import { findCards } from "../store/cards.ts";
import { type CardKey, findMembers } from "../store/loyalty-members.ts";
import { findHolderTiers, loadTiers } from "../tiers/holder-tiers.ts";

export const listMemberRewards =
  (deps: Deps): Handler<typeof RewardService.method.listMemberRewards> =>
  async (request, call) => {
    const projectId = call.project.id;
    const cardId = await requireMemberCard(deps, projectId, request);
    const card = { projectId, cardId };
    const tiers = await findHolderTiers(deps.db, await loadTiers(deps, [card]), [card]);
    const { rewards, total } = await listPricedRewards(deps, {
      projectId,
      campaignId: request.voucher?.campaignId ?? "",
      tier: tiers.get(keyOf(projectId, cardId)) ?? null,
      ...(request.affordableOnly === true && { isListed: await affordable(deps, card, call) }),
      ...parsePage(request),
    });
    return create(ListMemberRewardsResponseSchema, {
      data: rewards.map(({ reward, assignment }) => ({
        reward: rewardToProto(reward),
        assignment: rewardAssignmentToProto(assignment),
      })),
      total,
    });
  };

/** Whether the balance of a card suffices for a reward. A card that is not open yet has its initial points. */
async function affordable(
  { db }: Pick<Deps, "db">,
  key: CardKey,
  call: Call,
): Promise<(reward: PricedReward) => boolean> {
  const [cards, [member]] = await Promise.all([
    findCards(db, [key]).then((found) => readCards(db, found, call)),
    findMembers(db, [key]),
  ]);
  const card = cards.get(keyOf(key.projectId, key.cardId));
  const balance = card === undefined ? (member?.initialPoints ?? 0n) : availablePoints(card);
  return (reward) => pointsNeeded(reward) <= balance;
}
