import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ApiError } from "@scrip/errors";
import {
  type ValidationRulesAssignmentList,
  ValidationRulesAssignmentListSchema,
} from "@scrip/proto/scrip/common/v1/validation_rules_assignment_pb";
import {
  type RuleScope,
  type RuleScopeEntry,
  RuleScopeSchema,
  type ValidationRule,
  ValidationRuleSchema,
  type CreateValidationRuleRequest,
  type UpdateValidationRuleRequest,
} from "@scrip/proto/scrip/validation/v1/rules_pb";
import { parseValidationRule, type ValidationRule as ParsedRule } from "@scrip/rules";

import type { AssignmentRow } from "../store/rule-assignments.ts";
import {
  ruleScopeFromRow,
  ruleDefinitionFromRow,
  ruleScopeToRow,
} from "../store/rule-definition.ts";
import type { CountedRuleRow, RuleRow } from "../store/validation-rules.ts";
import { assignmentToProto } from "./assignment.ts";

export const validationRuleToProto = (row: CountedRuleRow): ValidationRule =>
  create(ValidationRuleSchema, {
    id: row.id,
    name: row.name,
    rules: row.rules,
    // No scope means that the discount applies to everything, as does an empty one.
    applicableTo:
      row.applicable_to === null
        ? create(RuleScopeSchema)
        : withEffects(ruleScopeFromRow(row.applicable_to)),
    type: row.type,
    contextType: row.context_type,
    assignmentsCount: row.assignments_count,
    createdAt: timestampFromDate(row.created_at),
    ...(row.bundle_rules !== null && { bundleRules: row.bundle_rules }),
    ...(row.error_message !== null && { error: { message: row.error_message } }),
    ...(row.updated_at !== null && { updatedAt: timestampFromDate(row.updated_at) }),
  });

const withEffects = (scope: RuleScope): RuleScope => ({
  ...scope,
  included: scope.included.map(withEffect),
  excluded: scope.excluded.map(withEffect),
});

const withEffect = (entry: RuleScopeEntry): RuleScopeEntry => ({
  ...entry,
  effect: entry.effect ?? DEFAULT_EFFECT,
});

const DEFAULT_EFFECT = "APPLY_TO_EVERY";

export const assignmentListToProto = ({
  rows,
  total,
}: {
  readonly rows: readonly AssignmentRow[];
  readonly total: bigint;
}): ValidationRulesAssignmentList =>
  create(ValidationRulesAssignmentListSchema, { data: rows.map(assignmentToProto), total });

/** Applies a request to the stored rule; each sent field is replaced as a whole. */
export function validationRuleToRow(
  request: CreateValidationRuleRequest | UpdateValidationRuleRequest,
  stored: RuleRow | undefined,
  { newId, now }: Context,
): RuleRow {
  const sent = new Set(
    request.$typeName === "scrip.validation.v1.UpdateValidationRuleRequest"
      ? request.updateMask?.paths
      : [],
  );
  /** `null` clears a field. */
  const storedValue = <Value>(name: string, value: Value | null | undefined): Value | null =>
    sent.has(name) ? null : (value ?? null);
  const at = new Date(now);
  const id = stored?.id ?? newId();
  return {
    id,
    name: request.name ?? stored?.name ?? id,
    type: request.type ?? storedValue("type", stored?.type) ?? DEFAULT_TYPE,
    context_type:
      request.contextType ?? storedValue("context_type", stored?.context_type) ?? DEFAULT_CONTEXT,
    rules: request.rules ?? storedValue("rules", stored?.rules) ?? {},
    bundle_rules: request.bundleRules ?? storedValue("bundle_rules", stored?.bundle_rules),
    applicable_to:
      request.applicableTo === undefined
        ? storedValue("applicable_to", stored?.applicable_to)
        : ruleScopeToRow(request.applicableTo),
    error_message:
      request.error === undefined
        ? storedValue("error", stored?.error_message)
        : (request.error.message ?? null),
    created_at: stored?.created_at ?? at,
    updated_at: stored === undefined ? null : timeOfChange(stored, now),
  };
}

/**
 * Later than the change before, although the clock of a sandbox can stand still or be set back: loyalty retains the latest
 * state of a rule.
 */
const timeOfChange = ({ created_at: createdAt, updated_at: updatedAt }: RuleRow, now: number) =>
  new Date(Math.max(now, (updatedAt ?? createdAt).getTime() + 1));

/** Rejects rules that could not be evaluated later. */
export function parseRule(row: RuleRow): ParsedRule {
  const parsed = parseValidationRule(ruleDefinitionFromRow(row.id, row));
  if (parsed.kind === "violation") {
    throw new ApiError("invalid_validation_rules", { details: parsed.text });
  }
  return parsed.rule;
}

type Context = { readonly newId: () => string; readonly now: number };

const DEFAULT_TYPE = "expression";

const DEFAULT_CONTEXT = "global";
