import type { JsonObject } from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import type { ValidationRulesAssignment } from "@scrip/proto/scrip/common/v1/validation_rules_assignment_pb";
import { EarningRuleService } from "@scrip/proto/scrip/loyalty/v1/earning_rules_pb";
import { type Call, clientOf } from "@scrip/rpc";

export type EarningRules = {
  /** Sets the validation rule of an earning rule; `validationRule` has its conditions. */
  assign(
    request: {
      readonly earningRuleId: string;
      readonly validationRuleId: string;
      readonly validationRule: JsonObject;
    },
    call: Call,
  ): Promise<ValidationRulesAssignment>;
  /** Removes the validation rule of an earning rule; rejects with `not_found` if none has the assignment. */
  unassign(
    request: { readonly validationRuleId: string; readonly assignmentId: string },
    call: Call,
  ): Promise<ValidationRulesAssignment>;
};

export function createEarningRulesClient(transport: Transport): EarningRules {
  const client = clientOf(EarningRuleService, transport);
  return {
    assign: (request, call) => client.assignValidationRule(request, call),
    unassign: (request, call) => client.unassignValidationRule(request, call),
  };
}
