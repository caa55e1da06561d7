import type { Message } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { notFound, toErrorResponse } from "@scrip/errors";
import { newId } from "@scrip/ids";
import type { AssignRulesItem } from "@scrip/proto/scrip/validation/v1/rules_pb";
import type { Call } from "@scrip/rpc";

import type { ValidationRules } from "./clients/validation-rules.ts";
import type { CompileStep, MessageFields } from "./step.ts";
import { type NewObject, planRules, type RulesPlan } from "./validation-rules-plan.ts";

/**
 * Assigns the rules to reserved ids before the owning service creates the objects under these ids, so
 * that no object can be found without its rules.
 */
export const assignValidationRulesStep: CompileStep = ({ rpc }, { validationRules }) => {
  const plan = planRules(rpc.input);
  if (plan === undefined || validationRules === undefined) return undefined;
  return (next) => async (message, call) => {
    const { reserved, assignments } = reserveIds(plan, message, call);
    if (assignments.length === 0) return next(message, call);
    try {
      await assignAll(validationRules, assignments);
      return await next(reserved, call);
    } catch (error) {
      if (isRejection(error, call)) await unassignAll(validationRules, assignments);
      throw error;
    }
  };
};

function reserveIds(
  plan: RulesPlan,
  message: Message,
  call: Call,
): { readonly reserved: Message; readonly assignments: readonly AssignRulesItem[] } {
  const assignments: AssignRulesItem[] = [];
  const reserved = reserve(plan, message, (object, ruleIds) => {
    const id = newId(object.prefix);
    assignments.push({
      $typeName: "scrip.validation.v1.AssignRulesItem",
      projectId: call.project.id,
      now: timestampFromMs(call.now),
      relatedObjectType: object.type,
      relatedObjectId: id,
      ruleIds: [...ruleIds],
    });
    return id;
  });
  return { reserved, assignments };
}

async function assignAll(
  rules: ValidationRules,
  assignments: readonly AssignRulesItem[],
): Promise<void> {
  const outcomes = await Promise.all(assignments.map((item) => rules.assign(item)));
  for (const { unknownRuleId } of outcomes) {
    if (unknownRuleId !== undefined) throw notFound("validation_rules", unknownRuleId);
  }
}

/**
 * Whether it is certain that the owning service did not create the object. After an outage that is unknown, so the
 * assignments stay: without an object they have no effect, and DeleteValidationRule removes them.
 */
function isRejection(thrown: unknown, { requestId }: Call): boolean {
  const { error, unexpected } = toErrorResponse(thrown, requestId);
  return !unexpected && error.code < 500;
}

async function unassignAll(
  rules: ValidationRules,
  assignments: readonly AssignRulesItem[],
): Promise<void> {
  // A failure leaves assignments without an object, as a crash would.
  await Promise.allSettled(
    assignments.map(({ projectId, relatedObjectId }) =>
      rules.revoke({
        $typeName: "scrip.validation.v1.RevokeRulesItem",
        projectId,
        relatedObjectId,
      }),
    ),
  );
}

type ReserveId = (object: NewObject, ruleIds: readonly string[]) => string;

/** Copies the message (messages are read-only) with a reserved id in each object that has rules. */
function reserve(plan: RulesPlan, fields: MessageFields, reserveId: ReserveId): MessageFields {
  const copy: MessageFields = { ...fields };
  for (const { field, many, plan: child } of plan.children) {
    const value = fields[field];
    if (value === undefined) continue;
    copy[field] = many
      ? (value as MessageFields[]).map((item) => reserve(child, item, reserveId))
      : reserve(child, value as MessageFields, reserveId);
  }
  const { own } = plan;
  const ruleIds = own && (fields[own.rules] as readonly string[]);
  if (own !== undefined && ruleIds !== undefined && ruleIds.length > 0) {
    copy[own.reservedId] = reserveId(own, ruleIds);
    copy[own.rules] = [];
  }
  return copy;
}
