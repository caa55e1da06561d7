import { create, type JsonObject, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { OutboxEvent } from "@scrip/events";
import { ValidationRuleChangedSchema } from "@scrip/proto/scrip/events/v1/rules_pb";

/** Changes of validation rules and their assignments, key: the resource. Published by this service. */
export const RULES_TOPIC = "scrip.rules.v1";

/** The event of a changed rule, or of a deleted one without `rules`. */
export const validationRuleChanged = (
  id: string,
  {
    projectId,
    ruleId,
    rules,
    at,
  }: {
    readonly projectId: string;
    readonly ruleId: string;
    readonly rules: JsonObject | null;
    readonly at: number;
  },
): OutboxEvent => ({
  projectId,
  id,
  topic: RULES_TOPIC,
  type: ValidationRuleChangedSchema.typeName,
  key: ruleId,
  payload: toBinary(
    ValidationRuleChangedSchema,
    create(ValidationRuleChangedSchema, {
      projectId,
      ruleId,
      ...(rules !== null && { rules }),
      deleted: rules === null,
      date: timestampFromMs(at),
    }),
  ),
});
