import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { checkOrder } from "../domain/order/order-state.ts";
import {
  ignoredConditions,
  type QualificationScenario,
} from "../domain/qualification/qualification-scenario.ts";
import { qualificationStacking } from "../domain/qualification/qualification-stacking.ts";
import type { StackingRules } from "../domain/stacking/stacking-rules.ts";
import type { RequestContext } from "../mapping/decision-context.ts";
import type { DecisionInput } from "../mapping/decision-input.ts";
import { rejectionToApiError } from "../mapping/error.ts";
import { orderFromProto } from "../mapping/order-input.ts";
import { loadRequestContext } from "./request-context.ts";
import { loadStackingRules } from "./stacking-rules.ts";

export type QualificationContext = {
  readonly requestContext: RequestContext;
  readonly tracking: string | undefined;
  /** Stacking rules as configured for the project. */
  readonly settings: StackingRules;
};

/** Loads the context in which candidates are evaluated. Throws when the order is invalid. */
export async function loadQualificationContext(
  deps: Deps,
  call: Call,
  { input, scenario }: { readonly input: DecisionInput; readonly scenario: QualificationScenario },
): Promise<QualificationContext> {
  const settings = await loadStackingRules(deps, call);
  const stacking = qualificationStacking(settings, scenario);
  const { requestContext, tracking } = await loadRequestContext(deps, call, input, stacking);
  const { customer, requestedCustomer, storedOrder } = requestContext;
  const { order } = requestContext.input;
  const rejection = order === undefined ? null : checkOrder(orderFromProto(order, storedOrder));
  if (rejection !== null) throw rejectionToApiError(rejection);
  const hasCustomer = customer !== undefined || requestedCustomer !== undefined;
  const omits = ignoredConditions(scenario, hasCustomer);
  return { requestContext: { ...requestContext, omits }, tracking, settings };
}
