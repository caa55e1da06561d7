import type { ReferralTierService } from "@scrip/proto/scrip/campaign/v1/referral_tiers_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { parseReward } from "../domain/referral-program-json.ts";
import { referralTierToProto } from "../mapping/referral-tier.ts";
import { changeTier } from "../referral/change-tiers.ts";
import { resolveReward } from "../referral/resolve-referral-program.ts";

export const updateReferralTier =
  (deps: Deps): Handler<typeof ReferralTierService.method.updateReferralTier> =>
  async ({ campaignId, tierId, name, condition, segmentId, reward, updateMask }, call) => {
    const sent = new Set(updateMask?.paths);
    const newReward =
      reward === undefined
        ? undefined
        : await resolveReward(deps.db, call.project.id, parseReward(reward, ".reward"));
    const tier = await changeTier(deps, call, { campaignId, tierId }, (before) => ({
      ...before,
      name: name ?? before.name,
      conditionType: condition?.type ?? before.conditionType,
      count: condition === undefined ? before.count : (condition.count ?? 1n),
      segmentId: sent.has("segment_id") ? (segmentId ?? null) : before.segmentId,
      reward: newReward ?? before.reward,
    }));
    return referralTierToProto(tier);
  };
