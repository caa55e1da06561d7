import type { EarningRuleService } from "@scrip/proto/scrip/loyalty/v1/earning_rules_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { type EarningRule, withValidationRule } from "../domain/earning/earning-rule.ts";
import { changeEarningRule } from "../earning/write-rules.ts";
import { ruleAssignmentOf } from "../mapping/rule-assignment.ts";
import { findValidatedEarningRules } from "../store/earning-rules.ts";

export const unassignValidationRule =
  (deps: Deps): Handler<typeof EarningRuleService.method.unassignValidationRule> =>
  async ({ validationRuleId, assignmentId }, call) => {
    const { project, now } = call;
    const isAssigned = (rule: EarningRule): boolean => ruleAssignmentOf(rule)?.id === assignmentId;
    const rules = await findValidatedEarningRules(deps.db, project.id, { validationRuleId });
    const found = rules.find(isAssigned);
    let removed = false;
    if (found !== undefined) {
      const { id, campaignId } = found;
      await changeEarningRule(deps, { call, campaignId, id }, (before) => {
        // It may have got another one meanwhile.
        removed = isAssigned(before);
        return removed ? { ...withValidationRule(before, null, now), updatedAt: now } : before;
      });
    }
    return { $typeName: "scrip.loyalty.v1.UnassignValidationRuleResponse", removed };
  };
