import { deletedId, planDeletion } from "./deletion-plan.ts";
import type { CompileStep } from "./step.ts";

export const deleteAssignmentsStep: CompileStep = ({ rpc }, { validationRules }) => {
  const plan = planDeletion(rpc.input);
  if (plan?.references !== "are_deleted" || validationRules === undefined) return undefined;
  return (next) => async (message, call) => {
    const response = await next(message, call);
    // The object is deleted: a failure here leaves assignments that are removed with their rule.
    await Promise.allSettled([
      validationRules.revoke({
        $typeName: "scrip.validation.v1.RevokeRulesItem",
        projectId: call.project.id,
        relatedObjectId: deletedId(plan, message),
      }),
    ]);
    return response;
  };
};
