import { timestampDate } from "@bufbuild/protobuf/wkt";
import { type DeliveredEvent, type EventHandler, eventMessage } from "@scrip/events";
import { ValidationRuleChangedSchema } from "@scrip/proto/scrip/events/v1/rules_pb";

import type { Deps } from "../deps.ts";
import { upsertValidationRules, type ValidationRuleRow } from "../store/validation-rules.ts";

export const RULES_TOPIC = "scrip.rules.v1";

/**
 * Stores the conditions of validation rules, also of those that no earning rule refers to yet: the gateway may have loaded
 * older ones for a rule that is about to. An older state changes nothing.
 */
export const onValidationRule =
  (deps: Pick<Deps, "definitions">): EventHandler =>
  async (events) => {
    const changes = events.flatMap((event) => changeOf(event) ?? []);
    for (const [projectId, rules] of Map.groupBy(changes, (rule) => rule.projectId)) {
      await deps.definitions.write(projectId, (tx) => upsertValidationRules(tx, rules));
    }
  };

function changeOf(event: DeliveredEvent): ValidationRuleRow | undefined {
  const changed = eventMessage(event, ValidationRuleChangedSchema);
  if (changed?.date === undefined) return undefined;
  const { projectId, ruleId: id, rules = {}, deleted, date } = changed;
  return {
    projectId,
    id,
    rules: deleted ? null : rules,
    changedAt: timestampDate(date),
  };
}
