import { create } from "@bufbuild/protobuf";
import { ValidationRulesAssignmentSchema } from "@scrip/proto/scrip/common/v1/validation_rules_assignment_pb";
import {
  AssignValidationRuleRequestSchema,
  EarningRuleService,
} from "@scrip/proto/scrip/loyalty/v1/earning_rules_pb";
import {
  CreateAssignmentRequestSchema,
  ValidationRuleService,
} from "@scrip/proto/scrip/validation/v1/rules_pb";
import type { Call } from "@scrip/rpc";
import { expect, test } from "vitest";

import { compileEntry } from "./audit.ts";

const call: Call = {
  project: { id: "proj_1", timeZone: "UTC", caseSensitiveCodes: true },
  requestId: "request",
  deadline: 0,
  now: 0,
  caller: { side: "server", id: "app_1" },
};

const assignmentTo = (relatedObjectType: string, relatedObjectId: string) =>
  create(ValidationRulesAssignmentSchema, {
    id: "asgm_1",
    ruleId: "val_1",
    relatedObjectType,
    relatedObjectId,
  });

const ASSIGNMENT = { resource: "validation_rules_assignment", resourceId: "asgm_1" };

test("names the assignment of a validation rule, whichever service stores it", () => {
  const stored = compileEntry(ValidationRuleService.method.createAssignment)?.({
    request: create(CreateAssignmentRequestSchema, {
      validationRuleId: "val_1",
      relatedObjectType: "voucher",
      relatedObjectId: "v_1",
    }),
    response: assignmentTo("voucher", "v_1"),
    call,
  });
  expect(stored).toMatchObject({
    ...ASSIGNMENT,
    fields: ["related_object_type", "related_object_id"],
  });
  const ofEarningRule = compileEntry(EarningRuleService.method.assignValidationRule)?.({
    request: create(AssignValidationRuleRequestSchema, {
      earningRuleId: "ern_1",
      validationRuleId: "val_1",
      validationRule: { rules: {} },
    }),
    response: assignmentTo("earning_rule", "ern_1"),
    call,
  });
  expect(ofEarningRule).toMatchObject({
    ...ASSIGNMENT,
    // The gateway adds the conditions of the rule.
    fields: ["earning_rule_id", "validation_rule_id"],
  });
});
