import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type ValidationRulesAssignmentList,
  ValidationRulesAssignmentListSchema,
} from "@scrip/proto/scrip/common/v1/validation_rules_assignment_pb";
import {
  RuleScopeSchema,
  type ValidationRule,
  ValidationRuleSchema,
} from "@scrip/proto/scrip/validation/v1/rules_pb";

import type { AssignmentRow } from "../store/rule-assignments.ts";
import { ruleScopeFromRow } from "../store/rule-definition.ts";
import type { CountedRuleRow } from "../store/validation-rules.ts";
import { assignmentToProto } from "./assignment.ts";

export const validationRuleToProto = (row: CountedRuleRow): ValidationRule =>
  create(ValidationRuleSchema, {
    id: row.id,
    name: row.name,
    rules: row.rules,
    // Without a scope the discount applies to everything, which is what an empty one says.
    applicableTo:
      row.applicable_to === null ? create(RuleScopeSchema) : ruleScopeFromRow(row.applicable_to),
    type: row.type,
    contextType: row.context_type,
    assignmentsCount: row.assignments_count,
    createdAt: timestampFromDate(row.created_at),
    ...(row.bundle_rules !== null && { bundleRules: row.bundle_rules }),
    ...(row.error_message !== null && { error: { message: row.error_message } }),
    ...(row.updated_at !== null && { updatedAt: timestampFromDate(row.updated_at) }),
  });

export const assignmentListToProto = ({
  rows,
  total,
}: {
  readonly rows: readonly AssignmentRow[];
  readonly total: bigint;
}): ValidationRulesAssignmentList =>
  create(ValidationRulesAssignmentListSchema, { data: rows.map(assignmentToProto), total });
