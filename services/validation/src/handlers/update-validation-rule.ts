import { notFound } from "@scrip/errors";
import { enqueue } from "@scrip/events";
import type { ValidationRuleService } from "@scrip/proto/scrip/validation/v1/rules_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { validationRuleChanged } from "../events/validation-rule-changed.ts";
import { countingEarningRules } from "../loading/assignments.ts";
import {
  validationRuleToProto,
  validationRuleToRow,
  parseRule,
} from "../mapping/validation-rule.ts";
import { rejectUnknownReferences } from "../rules/unknown-references.ts";
import { lockRule, saveRule } from "../store/validation-rules.ts";

export const updateValidationRule =
  (deps: Deps): Handler<typeof ValidationRuleService.method.updateValidationRule> =>
  async (request, call) => {
    const { project, now } = call;
    const { validationRuleId: id } = request;
    // Only what is sent: an object that a stored rule names may have been deleted since.
    const sent = parseRule(validationRuleToRow(request, undefined, { newId: () => id, now }));
    await rejectUnknownReferences(deps, call, sent);
    const counted = await countingEarningRules(deps, call, id);
    const updated = await deps.definitions.write(project.id, async (tx) => {
      const stored = await lockRule(tx, project.id, id);
      if (stored === undefined) throw notFound("validation_rules", id);
      const row = validationRuleToRow(request, stored, { newId: () => id, now });
      parseRule(row);
      await saveRule(tx, project.id, row);
      const at = row.updated_at?.getTime() ?? now;
      const change = { projectId: project.id, ruleId: id, rules: row.rules, at };
      await enqueue(tx, [validationRuleChanged(deps.newId("event"), change)], call);
      return { ...row, assignments_count: stored.assignments_count };
    });
    deps.onEvents();
    return validationRuleToProto(counted(updated));
  };
