import { notFound } from "@scrip/errors";
import type { ValidationRuleService } from "@scrip/proto/scrip/validation/v1/rules_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { countingEarningRules } from "../loading/assignments.ts";
import { validationRuleToProto } from "../mapping/validation-rule.ts";
import { findRule } from "../store/validation-rules.ts";

export const getValidationRule =
  (deps: Deps): Handler<typeof ValidationRuleService.method.getValidationRule> =>
  async ({ validationRuleId }, call) => {
    const row = await findRule(deps.db, call.project.id, validationRuleId);
    if (row === undefined) throw notFound("validation_rules", validationRuleId);
    const counted = await countingEarningRules(deps, call, validationRuleId);
    return validationRuleToProto(counted(row));
  };
