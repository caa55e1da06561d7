import { notFound } from "@scrip/errors";
import type { EarningRuleService } from "@scrip/proto/scrip/loyalty/v1/earning_rules_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { withValidationRule } from "../domain/earning/earning-rule.ts";
import { changeEarningRule } from "../earning/write-rules.ts";
import { assignmentTo, ruleAssignmentOf } from "../mapping/rule-assignment.ts";
import { findValidatedEarningRules } from "../store/earning-rules.ts";

export const unassignValidationRule =
  (deps: Deps): Handler<typeof EarningRuleService.method.unassignValidationRule> =>
  async ({ validationRuleId, assignmentId }, call) => {
    const { project, now } = call;
    const unknown = () => notFound("validation_rules_assignment", assignmentId);
    const rules = await findValidatedEarningRules(deps.db, project.id, { validationRuleId });
    const found = rules.find((rule) => ruleAssignmentOf(rule)?.id === assignmentId);
    if (found === undefined) throw unknown();
    const { id, campaignId } = found;
    await changeEarningRule(deps, { call, campaignId, id }, (before) => {
      // It may have got another one meanwhile.
      if (ruleAssignmentOf(before)?.id !== assignmentId) throw unknown();
      return { ...withValidationRule(before, null, now), updatedAt: now };
    });
    return assignmentTo(found, validationRuleId);
  };
