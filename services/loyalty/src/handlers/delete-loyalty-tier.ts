import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { inUse, notFound } from "@scrip/errors";
import type { LoyaltyTierService } from "@scrip/proto/scrip/loyalty/v1/tiers_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { findRulesReferringTo } from "../store/earning-rules.ts";
import { updateTier } from "../store/loyalty-tiers.ts";
import { changeTiers } from "../tiers/write-tiers.ts";

export const deleteLoyaltyTier =
  (deps: Deps): Handler<typeof LoyaltyTierService.method.deleteLoyaltyTier> =>
  async ({ campaignId, tierId }, call) => {
    const { id: projectId } = call.project;
    await changeTiers(deps, { call, campaignId }, async (tx, tiers) => {
      const before = tiers.find(({ id, deleted }) => id === tierId && !deleted);
      if (before === undefined) throw notFound("loyalty_tier", tierId);
      const reference = { column: "tier_id", id: tierId } as const;
      const rules = await findRulesReferringTo(tx, projectId, reference);
      if (rules.total > 0n) throw inUse("loyalty_tier", tierId, { ...rules, type: "earning_rule" });
      const after = { ...before, deleted: true, updatedAt: call.now };
      await updateTier(tx, projectId, after);
      const remaining = tiers.map((each) => (each === before ? after : each));
      return { tiers: remaining, evaluates: true, result: undefined };
    });
    return create(EmptySchema);
  };
