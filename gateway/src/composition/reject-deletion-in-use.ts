import { inUse } from "@scrip/errors";

import { deletedId, planDeletion } from "./deletion-plan.ts";
import type { CompileStep } from "./step.ts";

/** The service that owns the object must not call validation, so the gateway checks before the call. */
export const rejectDeletionInUseStep: CompileStep = ({ rpc }, { validationRules }) => {
  const plan = planDeletion(rpc.input);
  if (plan?.references !== "block_deletion" || validationRules === undefined) return undefined;
  return (next) => async (message, call) => {
    const id = deletedId(plan, message);
    const { ruleIds, total } = await validationRules.referencing(id, call);
    if (total > 0n) throw inUse(plan.type, id, { type: "validation_rule", ids: ruleIds, total });
    return next(message, call);
  };
};
