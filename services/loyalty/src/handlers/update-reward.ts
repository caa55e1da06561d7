import { notFound } from "@scrip/errors";
import type { RewardService, UpdateRewardRequest } from "@scrip/proto/scrip/loyalty/v1/rewards_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { rewardParametersFromProto, rewardToProto } from "../mapping/reward.ts";
import { requireValidReward } from "../reward/require-valid-reward.ts";
import { findReward, type RewardRow, updateReward as save } from "../store/rewards.ts";

export const updateReward =
  (deps: Deps): Handler<typeof RewardService.method.updateReward> =>
  async (request, { project, now }) => {
    const changed = await deps.db.transaction(async (tx) => {
      const stored = await findReward(tx, project.id, request.rewardId, { lock: true });
      if (stored === undefined) throw notFound("reward", request.rewardId);
      const row = changedReward(request, stored, new Date(now));
      requireValidReward(row.type, row.parameters, row.stock);
      await save(tx, project.id, row);
      return row;
    });
    return rewardToProto(changed);
  };

/** `null` clears a field; metadata is merged key by key. */
function changedReward(request: UpdateRewardRequest, stored: RewardRow, at: Date): RewardRow {
  const sent = new Set(request.updateMask?.paths);
  const { attributes, parameters } = request;
  return {
    ...stored,
    name: request.name ?? (sent.has("name") ? null : stored.name),
    parameters:
      parameters === undefined ? stored.parameters : rewardParametersFromProto(parameters),
    stock: request.stock ?? (sent.has("stock") ? null : stored.stock),
    attributes: {
      ...(sent.has("attributes") && attributes === undefined ? {} : stored.attributes),
      ...(attributes?.imageUrl !== undefined && { image_url: attributes.imageUrl }),
      ...(attributes?.description !== undefined && { description: attributes.description }),
    },
    metadata: { ...stored.metadata, ...request.metadata },
    updated_at: at,
  };
}
