import { ValidationRuleService } from "@scrip/proto/scrip/validation/v1/rules_pb";
import { implement } from "@scrip/rpc";

import type { Deps } from "./deps.ts";
import { assignRules } from "./handlers/assign-rules.ts";
import { createAssignment } from "./handlers/create-assignment.ts";
import { createValidationRule } from "./handlers/create-validation-rule.ts";
import { deleteAssignment } from "./handlers/delete-assignment.ts";
import { deleteValidationRule } from "./handlers/delete-validation-rule.ts";
import { getValidationRule } from "./handlers/get-validation-rule.ts";
import { listAssignments } from "./handlers/list-assignments.ts";
import { listRuleAssignments } from "./handlers/list-rule-assignments.ts";
import { listRulesReferencing } from "./handlers/list-rules-referencing.ts";
import { listValidationRules } from "./handlers/list-validation-rules.ts";
import { resolveAssignments } from "./handlers/resolve-assignments.ts";
import { revokeRules } from "./handlers/revoke-rules.ts";
import { updateValidationRule } from "./handlers/update-validation-rule.ts";

/** Validation rules and their assignments: one line for each RPC. */
export const ruleRoutes = (deps: Deps) =>
  implement(ValidationRuleService, {
    createValidationRule: createValidationRule(deps),
    listValidationRules: listValidationRules(deps),
    getValidationRule: getValidationRule(deps),
    updateValidationRule: updateValidationRule(deps),
    deleteValidationRule: deleteValidationRule(deps),
    createAssignment: createAssignment(deps),
    deleteAssignment: deleteAssignment(deps),
    listRuleAssignments: listRuleAssignments(deps),
    listAssignments: listAssignments(deps),
    assignRules: assignRules(deps),
    revokeRules: revokeRules(deps),
    listRulesReferencing: listRulesReferencing(deps),
    resolveAssignments: resolveAssignments(deps),
  });
