import type { ReferralTierService } from "@scrip/proto/scrip/campaign/v1/referral_tiers_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { referralTierToProto } from "../mapping/referral-tier.ts";
import { changeTier } from "../referral/change-tiers.ts";

export const disableReferralTier =
  (deps: Deps): Handler<typeof ReferralTierService.method.disableReferralTier> =>
  async (path, call) =>
    referralTierToProto(await changeTier(deps, call, path, (tier) => ({ ...tier, active: false })));
