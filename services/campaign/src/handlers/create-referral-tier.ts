import type { ReferralTierService } from "@scrip/proto/scrip/campaign/v1/referral_tiers_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { invalidCampaignParams } from "../domain/errors.ts";
import { parseReward } from "../domain/referral-program-json.ts";
import type { ReferralTier } from "../domain/referral-program.ts";
import { referralTierToProto } from "../mapping/referral-tier.ts";
import { changeTiers } from "../referral/change-tiers.ts";
import { resolveReward } from "../referral/resolve-referral-program.ts";
import { insertReferralTier } from "../store/referral-tiers.ts";

const MAX_TIERS = 100;

export const createReferralTier =
  (deps: Deps): Handler<typeof ReferralTierService.method.createReferralTier> =>
  async ({ campaignId: idOrName, name, condition, segmentId, reward, active }, call) => {
    const requested = parseReward(reward, ".reward");
    const tier = await changeTiers(deps, { idOrName, call }, async (tx, { campaignId, tiers }) => {
      if (tiers.length >= MAX_TIERS) {
        throw invalidCampaignParams(`A referral program has at most ${MAX_TIERS} tiers`);
      }
      const created: ReferralTier = {
        id: deps.newId("rtr"),
        campaignId,
        name,
        conditionType: condition?.type ?? "",
        count: condition?.count ?? 1n,
        segmentId: segmentId ?? null,
        reward: await resolveReward(tx, call.project.id, requested),
        active: active ?? true,
        createdAt: call.now,
        updatedAt: null,
      };
      await insertReferralTier(tx, call.project.id, created);
      return created;
    });
    return referralTierToProto(tier);
  };
