import { notFound } from "@scrip/errors";
import type { ValidationRuleService } from "@scrip/proto/scrip/validation/v1/rules_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import {
  validationRuleToProto,
  validationRuleToRow,
  rejectUnparsableRule,
} from "../mapping/validation-rule.ts";
import { lockRule, saveRule } from "../store/validation-rules.ts";

export const updateValidationRule =
  (deps: Deps): Handler<typeof ValidationRuleService.method.updateValidationRule> =>
  async (request, { project, now }) => {
    const { validationRuleId: id } = request;
    const updated = await deps.definitions.write(project.id, async (tx) => {
      const stored = await lockRule(tx, project.id, id);
      if (stored === undefined) throw notFound("validation_rules", id);
      const row = validationRuleToRow(request, stored, { newId: () => id, now });
      rejectUnparsableRule(row);
      await saveRule(tx, project.id, row);
      return { ...row, assignments_count: stored.assignments_count };
    });
    return validationRuleToProto(updated);
  };
