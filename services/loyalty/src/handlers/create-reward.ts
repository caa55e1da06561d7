import { invalidPayload } from "@scrip/errors";
import type { RewardService } from "@scrip/proto/scrip/loyalty/v1/rewards_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { type RewardParameters, type RewardType, rewardTypeOf } from "../domain/reward.ts";
import { rewardParametersFromProto, rewardToProto } from "../mapping/reward.ts";
import { requireValidReward } from "../reward/require-valid-reward.ts";
import { insertReward, type RewardRow } from "../store/rewards.ts";

export const createReward =
  (deps: Deps): Handler<typeof RewardService.method.createReward> =>
  async (request, { project, now }) => {
    const parameters =
      request.parameters === undefined ? {} : rewardParametersFromProto(request.parameters);
    const type = request.type === "" ? inferredType(parameters) : (request.type as RewardType);
    const stock = request.stock ?? null;
    requireValidReward(type, parameters, stock);
    const { imageUrl, description } = request.attributes ?? {};
    const row: RewardRow = {
      id: deps.newId("rew"),
      name: request.name ?? null,
      type,
      parameters,
      stock,
      redeemed: 0n,
      attributes: {
        ...(imageUrl !== undefined && { image_url: imageUrl }),
        ...(description !== undefined && { description }),
      },
      metadata: request.metadata ?? {},
      created_at: new Date(now),
      updated_at: null,
    };
    await insertReward(deps.db, project.id, row);
    return rewardToProto(row);
  };

function inferredType(parameters: RewardParameters): RewardType {
  const type = rewardTypeOf(parameters);
  if (type === undefined) throw invalidPayload("Payload should have required property 'type'");
  return type;
}
