import { duplicate, invalidPayload, notFound } from "@scrip/errors";
import type { EarningRuleService } from "@scrip/proto/scrip/loyalty/v1/earning_rules_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { type EarningRule, withValidationRule } from "../domain/earning/earning-rule.ts";
import { changeEarningRule, storeValidationRules } from "../earning/write-rules.ts";
import { assignmentTo, ruleAssignmentOf } from "../mapping/rule-assignment.ts";
import { findProgramOfRule } from "../store/earning-rules.ts";

export const assignValidationRule =
  (deps: Deps): Handler<typeof EarningRuleService.method.assignValidationRule> =>
  async (request, call) => {
    const { project, now } = call;
    const { earningRuleId: id, validationRuleId } = request;
    const campaignId = await findProgramOfRule(deps.db, project.id, id);
    if (campaignId === undefined) throw notFound("earning_rule", id);
    const rule = await changeEarningRule(deps, { call, campaignId, id }, async (before, tx) => {
      requireNoRule(before, validationRuleId);
      await storeValidationRules(tx, project.id, [request]);
      return { ...withValidationRule(before, validationRuleId, now), updatedAt: now };
    });
    return assignmentTo(rule, validationRuleId);
  };

function requireNoRule(rule: EarningRule, validationRuleId: string): void {
  const assignment = ruleAssignmentOf(rule);
  if (assignment === undefined) return;
  if (assignment.ruleId === validationRuleId) {
    throw duplicate("validation_rules_assignment", "id", assignment.id);
  }
  throw invalidPayload(
    `An earning rule has one validation rule at most: ${rule.id} has ${assignment.ruleId}`,
  );
}
