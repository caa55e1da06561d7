import type { ValidationRuleService } from "@scrip/proto/scrip/validation/v1/rules_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import {
  validationRuleToProto,
  validationRuleToRow,
  parseRule,
} from "../mapping/validation-rule.ts";
import { rejectUnknownReferences } from "../rules/unknown-references.ts";
import { saveRule } from "../store/validation-rules.ts";

export const createValidationRule =
  (deps: Deps): Handler<typeof ValidationRuleService.method.createValidationRule> =>
  async (request, call) => {
    const { project, now } = call;
    const row = validationRuleToRow(request, undefined, { newId: () => deps.newId("val"), now });
    await rejectUnknownReferences(deps, call, parseRule(row));
    // Nothing can have cached a new rule yet, so no version has to change.
    await saveRule(deps.db, project.id, row);
    return validationRuleToProto({ ...row, assignments_count: 0n });
  };
