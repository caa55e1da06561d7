import { notFound } from "@scrip/errors";
import type { ValidationRuleService } from "@scrip/proto/scrip/validation/v1/rules_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { validationRuleToProto } from "../mapping/validation-rule.ts";
import { findRule } from "../store/validation-rules.ts";

export const getValidationRule =
  (deps: Deps): Handler<typeof ValidationRuleService.method.getValidationRule> =>
  async ({ validationRuleId }, { project }) => {
    const row = await findRule(deps.db, project.id, validationRuleId);
    if (row === undefined) throw notFound("validation_rules", validationRuleId);
    return validationRuleToProto(row);
  };
