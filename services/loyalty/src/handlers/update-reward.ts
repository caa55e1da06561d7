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

/** `null` clears a field or an attribute; metadata is merged key by key. */
function changedReward(request: UpdateRewardRequest, stored: RewardRow, at: Date): RewardRow {
  const sent = new Set(request.updateMask?.paths);
  const { parameters } = request;
  return {
    ...stored,
    name: request.name ?? (sent.has("name") ? null : stored.name),
    parameters:
      parameters === undefined ? stored.parameters : rewardParametersFromProto(parameters),
    stock: request.stock ?? (sent.has("stock") ? null : stored.stock),
    attributes: changedAttributes(request, stored),
    metadata: { ...stored.metadata, ...request.metadata },
    updated_at: at,
  };
}

function changedAttributes(
  { attributes, updateMask }: UpdateRewardRequest,
  stored: RewardRow,
): RewardRow["attributes"] {
  const sent = new Set(updateMask?.paths);
  const areCleared = sent.has("attributes") && attributes === undefined;
  const kept = (name: keyof RewardRow["attributes"]): string | undefined =>
    areCleared || sent.has(`attributes.${name}`) ? undefined : stored.attributes[name];
  const imageUrl = attributes?.imageUrl ?? kept("image_url");
  const description = attributes?.description ?? kept("description");
  return {
    ...(imageUrl !== undefined && { image_url: imageUrl }),
    ...(description !== undefined && { description }),
  };
}
