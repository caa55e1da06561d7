import type { EarningRuleService } from "@scrip/proto/scrip/loyalty/v1/earning_rules_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { changeEarningRule } from "../earning/write-rules.ts";
import { earningRuleToProto } from "../mapping/earning-rule.ts";

export const disableEarningRule =
  (deps: Deps): Handler<typeof EarningRuleService.method.disableEarningRule> =>
  async ({ campaignId, earningRuleId: id }, call) => {
    const { now } = call;
    const rule = await changeEarningRule(deps, { call, campaignId, id }, (before) =>
      before.active ? { ...before, active: false, updatedAt: now } : before,
    );
    return earningRuleToProto(rule);
  };
