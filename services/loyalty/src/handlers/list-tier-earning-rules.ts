import { create } from "@bufbuild/protobuf";
import { parsePage } from "@scrip/postgres";
import { ListEarningRulesResponseSchema } from "@scrip/proto/scrip/loyalty/v1/earning_rules_pb";
import type { LoyaltyTierService } from "@scrip/proto/scrip/loyalty/v1/tiers_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import type { EarningRule } from "../domain/earning/earning-rule.ts";
import { mappedPoints, type Tier } from "../domain/tiers/tier.ts";
import { earningRuleToProto } from "../mapping/earning-rule.ts";
import { listEarningRules } from "../store/earning-rules.ts";
import { orderByTime } from "../store/order-by-time.ts";
import { requireTier } from "../tiers/require-tier.ts";

export const listTierEarningRules =
  (deps: Deps): Handler<typeof LoyaltyTierService.method.listTierEarningRules> =>
  async (request, { project }) => {
    const { campaignId, tierId: id } = request;
    const projectId = project.id;
    const tier = await requireTier(deps, { projectId, campaignId, id });
    const { rules, total } = await listEarningRules(deps.db, {
      projectId,
      campaignId,
      createdAt: request.createdAt,
      order: orderByTime(),
      ...parsePage(request),
    });
    const data = rules.map((rule) => earningRuleToProto(inTier(rule, tier)));
    return create(ListEarningRulesResponseSchema, { data, total });
  };

function inTier(rule: EarningRule, { earningRules }: Tier): EarningRule {
  const points = mappedPoints(rule.calculation.points, earningRules.get(rule.id));
  return { ...rule, calculation: { ...rule.calculation, points } };
}
