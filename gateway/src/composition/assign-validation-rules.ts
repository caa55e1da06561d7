import type { Message } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { toErrorResponse, notFound } from "@scrip/errors";
import { newId } from "@scrip/ids";
import type { AssignRulesItem } from "@scrip/proto/scrip/validation/v1/rules_pb";
import type { Call } from "@scrip/rpc";

import type { ValidationRules } from "./clients/validation-rules.ts";
import type { NewObject, RulesPlan } from "./validation-rules-plan.ts";

// Only the plans know what the messages are; to this module they are records of fields.
type Fields = Message & Record<string, unknown>;

export type Creation = {
  readonly plan: RulesPlan | undefined;
  readonly message: Message;
  readonly call: Call;
};

/**
 * Makes objects that come with validation rules. The rules are assigned to the ids that the objects
 * will have, and then `make` is called with these ids: nobody finds an object without its rules.
 */
export async function assignValidationRules(
  rules: ValidationRules | undefined,
  { plan, message, call }: Creation,
  make: (message: Message) => Promise<Message>,
): Promise<Message> {
  if (rules === undefined || plan === undefined) return make(message);
  const wanted: AssignRulesItem[] = [];
  const reserved = reserve(plan, message, (object, ruleIds) => {
    const id = newId(object.prefix);
    wanted.push({
      $typeName: "scrip.validation.v1.AssignRulesItem",
      projectId: call.project.id,
      now: timestampFromMs(call.now),
      relatedObjectType: object.type,
      relatedObjectId: id,
      ruleIds: [...ruleIds],
    });
    return id;
  });
  if (wanted.length === 0) return make(message);
  try {
    await assignAll(rules, wanted);
    return await make(reserved);
  } catch (error) {
    if (isRejection(error, call)) await unassignAll(rules, wanted);
    throw error;
  }
}

async function assignAll(
  rules: ValidationRules,
  wanted: readonly AssignRulesItem[],
): Promise<void> {
  for (const { unknownRuleId } of await Promise.all(wanted.map((item) => rules.assign(item)))) {
    if (unknownRuleId !== undefined) throw notFound("validation_rules", unknownRuleId);
  }
}

/**
 * Nothing was made. After an outage that is not known, and then the rules stay: they hinder nobody when
 * there is no such object, and go with the rule (DeleteValidationRule).
 */
function isRejection(thrown: unknown, { requestId }: Call): boolean {
  const { error, unexpected } = toErrorResponse(thrown, requestId);
  return !unexpected && error.code < 500;
}

async function unassignAll(
  rules: ValidationRules,
  wanted: readonly AssignRulesItem[],
): Promise<void> {
  // What cannot be taken back stays like what is left after a crash.
  await Promise.allSettled(
    wanted.map(({ projectId, relatedObjectId }) =>
      rules.revoke({
        $typeName: "scrip.validation.v1.RevokeRulesItem",
        projectId,
        relatedObjectId,
      }),
    ),
  );
}

type Reserve = (object: NewObject, ruleIds: readonly string[]) => string;

/** The message with the ids of those of its objects that have rules. Messages are read-only. */
function reserve(plan: RulesPlan, fields: Fields, idFor: Reserve): Fields {
  const copy: Fields = { ...fields };
  for (const { field, many, plan: child } of plan.children) {
    const value = fields[field];
    if (value === undefined) continue;
    copy[field] = many
      ? (value as Fields[]).map((item) => reserve(child, item, idFor))
      : reserve(child, value as Fields, idFor);
  }
  const { own } = plan;
  const ruleIds = own && (fields[own.rules] as readonly string[]);
  if (own !== undefined && ruleIds !== undefined && ruleIds.length > 0) {
    copy[own.reservedId] = idFor(own, ruleIds);
    copy[own.rules] = [];
  }
  return copy;
}
