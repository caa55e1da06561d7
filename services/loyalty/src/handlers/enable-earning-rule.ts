import type { EarningRuleService } from "@scrip/proto/scrip/loyalty/v1/earning_rules_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { changeEarningRule } from "../earning/write-rules.ts";
import { earningRuleToProto } from "../mapping/earning-rule.ts";

export const enableEarningRule =
  (deps: Deps): Handler<typeof EarningRuleService.method.enableEarningRule> =>
  async ({ campaignId, earningRuleId: id }, { project, now }) => {
    const reference = { projectId: project.id, campaignId, id };
    const rule = await changeEarningRule(deps, reference, (before) =>
      before.active ? before : { ...before, active: true, updatedAt: now },
    );
    return earningRuleToProto(rule);
  };
