import type { LoyaltyTierService } from "@scrip/proto/scrip/loyalty/v1/tiers_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { tierToProto } from "../mapping/loyalty-tier.ts";
import { requireTier } from "../tiers/require-tier.ts";

export const getLoyaltyTier =
  (deps: Deps): Handler<typeof LoyaltyTierService.method.getLoyaltyTier> =>
  async ({ campaignId, tierId: id }, { project }) =>
    tierToProto(await requireTier(deps, { projectId: project.id, campaignId, id }));
