import { notFound } from "@scrip/errors";
import type { EarningRuleService } from "@scrip/proto/scrip/loyalty/v1/earning_rules_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { earningRuleToProto } from "../mapping/earning-rule.ts";
import { findEarningRule } from "../store/earning-rules.ts";

export const getEarningRule =
  (deps: Deps): Handler<typeof EarningRuleService.method.getEarningRule> =>
  async ({ campaignId, earningRuleId: id }, { project }) => {
    const rule = await findEarningRule(deps.db, { projectId: project.id, campaignId, id });
    if (rule === undefined) throw notFound("earning_rule", id);
    return earningRuleToProto(rule);
  };
