import { isMessage } from "@bufbuild/protobuf";
import { CreateAssignmentRequestSchema } from "@scrip/proto/scrip/validation/v1/rules_pb";

import { conditionsOf } from "./load-validation-rule.ts";
import type { CompileStep } from "./step.ts";

export const assignToEarningRuleStep: CompileStep = (
  { rpc },
  { earningRules, validationRules },
) => {
  if (rpc.input !== CreateAssignmentRequestSchema) return undefined;
  if (earningRules === undefined || validationRules === undefined) return undefined;
  return (next) => async (message, call) => {
    if (!isMessage(message, CreateAssignmentRequestSchema)) return next(message, call);
    const { validationRuleId, relatedObjectType, relatedObjectId: earningRuleId } = message;
    if (relatedObjectType !== "earning_rule" || earningRuleId === undefined)
      return next(message, call);
    const validationRule = conditionsOf(await validationRules.load(validationRuleId, call));
    return earningRules.assign({ earningRuleId, validationRuleId, validationRule }, call);
  };
};
