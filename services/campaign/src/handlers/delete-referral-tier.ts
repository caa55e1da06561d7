import type { ReferralTierService } from "@scrip/proto/scrip/campaign/v1/referral_tiers_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { changeTiers, requireTier } from "../referral/change-tiers.ts";
import { deleteReferralTier as deleteTier } from "../store/referral-tiers.ts";

export const deleteReferralTier =
  (deps: Deps): Handler<typeof ReferralTierService.method.deleteReferralTier> =>
  async ({ campaignId, tierId }, call) => {
    await changeTiers(deps, { idOrName: campaignId, call }, (tx, { tiers }) =>
      deleteTier(tx, call.project.id, requireTier(tiers, tierId).id),
    );
    return { $typeName: "google.protobuf.Empty" };
  };
