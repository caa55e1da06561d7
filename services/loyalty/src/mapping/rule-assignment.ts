import { createHash } from "node:crypto";

import { instantToProto } from "@scrip/mapping";
import type { ValidationRulesAssignment } from "@scrip/proto/scrip/common/v1/validation_rules_assignment_pb";

import type { EarningRule } from "../domain/earning/earning-rule.ts";

type AssignedRule = Pick<EarningRule, "id" | "validationRuleId" | "ruleAssignedAt" | "createdAt">;

/** The validation rule of an earning rule as an assignment; undefined without one. */
export const ruleAssignmentOf = (rule: AssignedRule): ValidationRulesAssignment | undefined =>
  rule.validationRuleId === null ? undefined : assignmentTo(rule, rule.validationRuleId);

/** The assignment of this validation rule, which the earning rule has. */
export const assignmentTo = (
  { id, ruleAssignedAt, createdAt }: AssignedRule,
  ruleId: string,
): ValidationRulesAssignment => ({
  $typeName: "scrip.common.v1.ValidationRulesAssignment",
  id: assignmentIdOf(id, ruleId),
  ruleId,
  relatedObjectId: id,
  relatedObjectType: "earning_rule",
  createdAt: instantToProto(ruleAssignedAt ?? createdAt),
});

const ID_DIGITS = 18;

/** An earning rule has one validation rule at most, so both together identify the assignment. */
const assignmentIdOf = (earningRuleId: string, validationRuleId: string): string => {
  const hash = createHash("sha256").update(`${earningRuleId} ${validationRuleId}`);
  return `asgm_${hash.digest("hex").slice(0, ID_DIGITS)}`;
};
