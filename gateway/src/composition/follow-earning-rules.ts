import { EarningRuleService } from "@scrip/proto/scrip/loyalty/v1/earning_rules_pb";

import { followEarningRules } from "../projects/follow-project.ts";
import type { CompileStep } from "./step.ts";

const { createEarningRules, updateEarningRule, enableEarningRule } = EarningRuleService.method;
const CHANGES: ReadonlySet<unknown> = new Set([
  createEarningRules,
  updateEarningRule,
  enableEarningRule,
]);

/**
 * Services store which request paid an order only for projects where points can be earned for it. The event
 * `EarningRulesFound` has the same effect; this step has it before the response.
 */
export const followEarningRulesStep: CompileStep = ({ rpc }, { followProject }) => {
  if (!CHANGES.has(rpc)) return undefined;
  return (next) => async (message, call) => {
    const response = await next(message, call);
    if (call.project.hasEarningRules !== true) {
      await followProject(call.project.id, followEarningRules);
    }
    return response;
  };
};
