import { inUse } from "@scrip/errors";

import { deletedId, planDeletion } from "./deletion-plan.ts";
import type { CompileStep } from "./step.ts";

/** The service that owns the object must not call validation or campaign, so the gateway checks before the call. */
export const rejectDeletionInUseStep: CompileStep = (
  { rpc },
  { validationRules, referralTiers },
) => {
  const plan = planDeletion(rpc.input);
  if (plan?.references !== "block_deletion" || validationRules === undefined) return undefined;
  return (next) => async (message, call) => {
    const id = deletedId(plan, message);
    const [rules, tiers] = await Promise.all([
      validationRules.referencing(id, call),
      plan.type === "segment" ? referralTiers?.namingSegment(id, call) : undefined,
    ]);
    const { ruleIds, total } = rules;
    if (total > 0n) throw inUse(plan.type, id, { type: "validation_rule", ids: ruleIds, total });
    if (tiers !== undefined && tiers.total > 0n) {
      const { tierIds: ids, total: number } = tiers;
      throw inUse(plan.type, id, { type: "referral_tier", ids, total: number });
    }
    return next(message, call);
  };
};
