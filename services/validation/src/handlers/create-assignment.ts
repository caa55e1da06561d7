import { duplicate, invalidPayload, notFound, type ApiError } from "@scrip/errors";
import type { Queryable } from "@scrip/postgres";
import type {
  CreateAssignmentRequest,
  ValidationRuleService,
} from "@scrip/proto/scrip/validation/v1/rules_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { findAssignableObject } from "../loading/assignable-objects.ts";
import { assignmentToProto } from "../mapping/assignment.ts";
import {
  type AssignmentRow,
  findAssignmentsOfObject,
  insertAssignments,
  type ObjectType,
} from "../store/rule-assignments.ts";
import { findRule, lockRulesAgainstDeletion } from "../store/validation-rules.ts";

const ASSIGNABLE: ReadonlySet<string> = new Set<ObjectType>([
  "voucher",
  "campaign",
  "promotion_tier",
  "reward_assignment",
]);

export const createAssignment =
  (deps: Deps): Handler<typeof ValidationRuleService.method.createAssignment> =>
  async (request, call) => {
    const { validationRuleId: ruleId } = request;
    const { type, name } = requestedObject(request);
    const projectId = call.project.id;
    if ((await findRule(deps.db, projectId, ruleId)) === undefined) throw unknownRule(ruleId);
    const objectId = isAssignable(type)
      ? await findAssignableObject(deps, call, { type, name })
      : undefined;
    if (objectId === undefined) throw notFound(type, name);

    const row: AssignmentRow = {
      id: deps.newId("asgm"),
      rule_id: ruleId,
      object_type: type,
      object_id: objectId,
      created_at: new Date(call.now),
    };
    await deps.definitions.write(projectId, (tx) => assign(tx, projectId, row));
    return assignmentToProto(row);
  };

/** The object to assign to, by `related_object_*` or by one of the older fields. */
function requestedObject(request: CreateAssignmentRequest): {
  readonly type: string;
  readonly name: string;
} {
  const { relatedObjectType, relatedObjectId, voucher, campaign, promotionTier } = request;
  const older = Object.entries({ voucher, campaign, promotion_tier: promotionTier }).flatMap(
    ([type, name]) => (name === undefined ? [] : [{ type, name }]),
  );
  const [first] = older;
  if (relatedObjectType === undefined && relatedObjectId === undefined && first !== undefined) {
    if (older.length === 1) return first;
    throw invalidPayload("Only one of .voucher, .campaign and .promotion_tier can be sent");
  }
  const type = required("related_object_type", relatedObjectType);
  return { type, name: required("related_object_id", relatedObjectId) };
}

function required(name: string, value: string | undefined): string {
  if (value === undefined) throw invalidPayload(`Payload should have required property '${name}'`);
  return value;
}

async function assign(tx: Queryable, projectId: string, row: AssignmentRow): Promise<void> {
  if (!(await lockRulesAgainstDeletion(tx, projectId, [row.rule_id])).has(row.rule_id)) {
    throw unknownRule(row.rule_id);
  }
  if ((await insertAssignments(tx, projectId, [row])).length > 0) return;
  const own = await findAssignmentsOfObject(tx, projectId, row.object_id);
  const same = own.find((it) => it.rule_id === row.rule_id);
  if (same !== undefined) throw duplicate("validation_rules_assignment", "id", same.id);
  throw invalidPayload(
    `A campaign has one validation rule at most: ${row.object_id} has ${own[0]?.rule_id}`,
  );
}

const isAssignable = (type: string): type is ObjectType => ASSIGNABLE.has(type);

const unknownRule = (id: string): ApiError => notFound("validation_rules", id);
