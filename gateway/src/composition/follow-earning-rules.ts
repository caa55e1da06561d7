import { EarningRuleService } from "@scrip/proto/scrip/loyalty/v1/earning_rules_pb";

import type { CompileStep } from "./step.ts";

const { createEarningRules, updateEarningRule, enableEarningRule } = EarningRuleService.method;
const CHANGES: ReadonlySet<unknown> = new Set([
  createEarningRules,
  updateEarningRule,
  enableEarningRule,
]);

/** Services store which request paid an order only for projects where points can be earned for it. */
export const followEarningRulesStep: CompileStep = ({ rpc }, { followProject }) => {
  if (!CHANGES.has(rpc)) return undefined;
  return (next) => async (message, call) => {
    const response = await next(message, call);
    if (call.project.hasEarningRules !== true) {
      await followProject(call.project.id, async ({ hasEarningRules }) =>
        hasEarningRules ? undefined : { hasEarningRules: true },
      );
    }
    return response;
  };
};
