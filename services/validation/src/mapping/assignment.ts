import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ValidationRulesAssignment } from "@scrip/proto/scrip/common/v1/validation_rules_assignment_pb";

import type { AssignmentRow } from "../store/rule-assignments.ts";

export const assignmentToProto = (row: AssignmentRow): ValidationRulesAssignment => ({
  $typeName: "scrip.common.v1.ValidationRulesAssignment",
  id: row.id,
  ruleId: row.rule_id,
  relatedObjectId: row.object_id,
  relatedObjectType: row.object_type,
  createdAt: timestampFromDate(row.created_at),
});
