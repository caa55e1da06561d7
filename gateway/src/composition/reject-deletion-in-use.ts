import { inUse } from "@scrip/errors";

import { deletedId, planDeletion } from "./deletion-plan.ts";
import type { CompileStep } from "./step.ts";

/** The service that owns the object must not call validation or campaign, so the gateway checks before the call. */
export const rejectDeletionInUseStep: CompileStep = (
  { rpc },
  { validationRules, referralTiers },
) => {
  const plan = planDeletion(rpc.input);
  if (plan?.references !== "block_deletion") return undefined;
  return (next) => async (message, call) => {
    const id = deletedId(plan, message);
    const [rules, tiers] = await Promise.all([
      validationRules?.referencing(id, call),
      plan.type === "segment" ? referralTiers?.namingSegment(id, call) : undefined,
    ]);
    const uses = [
      { type: "validation_rule", ids: rules?.ruleIds ?? [], total: rules?.total ?? 0n },
      { type: "referral_tier", ids: tiers?.tierIds ?? [], total: tiers?.total ?? 0n },
    ];
    const use = uses.find(({ total }) => total > 0n);
    if (use !== undefined) throw inUse(plan.type, id, use);
    return next(message, call);
  };
};
