import type { Message } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { notFound, toErrorResponse } from "@scrip/errors";
import { finalErrorOf } from "@scrip/idempotency";
import type { NewId } from "@scrip/ids";
import type { Error as ErrorMessage } from "@scrip/proto/scrip/common/v1/error_pb";
import type { AssignRulesItem } from "@scrip/proto/scrip/validation/v1/rules_pb";
import type { Call } from "@scrip/rpc";

import type { ValidationRules } from "./clients/validation-rules.ts";
import { withRejection } from "./rejection.ts";
import type { CompileStep, MessageFields } from "./step.ts";
import { type NewObject, planRules, type RulesPlan } from "./validation-rules-plan.ts";

/**
 * Assigns the rules to reserved ids before the owning service creates the objects under these ids, so
 * that no object can be found without its rules.
 */
export const assignValidationRulesStep: CompileStep = ({ rpc }, deps) => {
  const { validationRules, reserveIds } = deps;
  const plan = planRules(rpc.input);
  if (plan === undefined || validationRules === undefined) return undefined;
  return (next) => async (message, call) => {
    const isRejected = call.idempotency?.rejection !== undefined;
    if (isRejected || !hasRules(plan, message)) return next(message, call);
    const { reserved, assignments } = withReservedIds(plan, message, {
      call,
      newId: await reserveIds(call),
    });
    try {
      const rejection = await assignAll(validationRules, assignments).catch((error: unknown) =>
        rejectionToStore(error, call),
      );
      return await next(reserved, rejection === undefined ? call : withRejection(call, rejection));
    } catch (error) {
      if (isRejection(error, call)) await unassignAll(validationRules, assignments);
      throw error;
    }
  };
};

/**
 * The rejection by an unknown rule, for a request with a key: the owning service stores it, or returns the response
 * of an earlier attempt, whose rules stay assigned.
 */
function rejectionToStore(error: unknown, call: Call): ErrorMessage {
  const rejection = call.idempotency && finalErrorOf(error, call.requestId);
  if (rejection === undefined) throw error;
  return rejection;
}

/** Whether an object of the request has rules. */
function hasRules({ own, children }: RulesPlan, fields: MessageFields): boolean {
  if (own !== undefined && (fields[own.rules] as readonly string[]).length > 0) return true;
  return children.some(({ field, many, plan }) => {
    const value = fields[field];
    if (value === undefined) return false;
    const objects = many ? (value as MessageFields[]) : [value as MessageFields];
    return objects.some((object) => hasRules(plan, object));
  });
}

function withReservedIds(
  plan: RulesPlan,
  message: Message,
  { call, newId }: { readonly call: Call; readonly newId: NewId },
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
 * Whether it is certain that the owning service did not create the object, and never will under this id: with a key,
 * only after an error that is stored, since a concurrent or later request with the key may create it. Otherwise the
 * assignments stay: without an object they have no effect, and DeleteValidationRule removes them.
 */
function isRejection(thrown: unknown, { requestId, idempotency }: Call): boolean {
  if (idempotency !== undefined) return finalErrorOf(thrown, requestId) !== undefined;
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
