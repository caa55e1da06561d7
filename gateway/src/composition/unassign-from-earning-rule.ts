import { create, isMessage } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { toErrorResponse } from "@scrip/errors";
import { DeleteAssignmentRequestSchema } from "@scrip/proto/scrip/validation/v1/rules_pb";
import { orIfUnimplemented } from "@scrip/rpc";

import type { CompileStep } from "./step.ts";

/** Loyalty stores the webhook and the audit entry in the transaction that removes the assignment. */
export const unassignFromEarningRuleStep: CompileStep = ({ rpc }, { earningRules }) => {
  if (rpc.input !== DeleteAssignmentRequestSchema || earningRules === undefined) return undefined;
  return (next) => async (message, call) => {
    try {
      return await next(message, call);
    } catch (error) {
      const isUnknown = toErrorResponse(error, call.requestId).error.key === "not_found";
      if (!isUnknown || !isMessage(message, DeleteAssignmentRequestSchema)) throw error;
      const { validationRuleId, assignmentId } = message;
      const unassigned = earningRules.unassign({ validationRuleId, assignmentId }, call);
      if ((await orIfUnimplemented(unassigned, undefined)) === undefined) throw error;
      return create(EmptySchema);
    }
  };
};
