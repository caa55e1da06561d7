import type { EarningRuleService } from "@scrip/proto/scrip/loyalty/v1/earning_rules_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { ruleAssignmentOf } from "../mapping/rule-assignment.ts";
import { findValidatedEarningRules } from "../store/earning-rules.ts";

export const listValidationRuleAssignments =
  ({ db }: Deps): Handler<typeof EarningRuleService.method.listValidationRuleAssignments> =>
  async ({ validationRuleId, earningRuleId }, { project }) => {
    const rules = await findValidatedEarningRules(db, project.id, {
      ...(validationRuleId !== undefined && { validationRuleId }),
      ...(earningRuleId !== undefined && { id: earningRuleId }),
    });
    return {
      $typeName: "scrip.loyalty.v1.ListValidationRuleAssignmentsResponse",
      assignments: rules.flatMap((rule) => ruleAssignmentOf(rule) ?? []),
    };
  };
