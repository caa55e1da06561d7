import type { ValidationService } from "@scrip/proto/scrip/validation/v1/validations_pb";
import { type Handlers, runInterleaved, mapInterleaved } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import type { DecisionRequest } from "../domain/decision/decision-request.ts";
import type { EvaluatedRedeemable } from "../domain/decision/decision.ts";
import { singleRedeemableStacking } from "../domain/stacking/single-redeemable.ts";
import { loadDecisionContext } from "../loading/decision-context.ts";
import { loadActivePromotions } from "../loading/promotions.ts";
import { loadRequestContext } from "../loading/request-context.ts";
import { loadStackingRules } from "../loading/stacking-rules.ts";
import { tierValidationToProto } from "../mapping/promotion-tier-validation.ts";
import { orderOfQuery } from "../mapping/short-order.ts";
import { admitDecision, decideStepwise } from "../validation/decide.ts";

export const validatePromotions =
  (deps: Deps): Handlers<typeof ValidationService>["validatePromotions"] =>
  async (sent, call) => {
    const stacking = singleRedeemableStacking(await loadStackingRules(deps, call));
    const { order: _, ...others } = sent;
    const input = { ...others, ...orderOfQuery(sent), redeemables: [] };
    const [{ requestContext, tracking }, promotions] = await Promise.all([
      loadRequestContext(deps, call, input, stacking),
      loadActivePromotions(deps, call),
    ]);
    const tiers = [...promotions.tiers.values()].toSorted(
      (a, b) => Number(a.hierarchy - b.hierarchy) || (a.id < b.id ? -1 : 1),
    );
    const redeemables = tiers.map(({ id }) => ({ object: "promotion_tier" as const, id }));
    const resolved = { redeemables, vouchers: new Map(), promotions, storedOutcome: undefined };
    const context = await loadDecisionContext(deps, call, requestContext, resolved);

    await admitDecision(context.request, call);
    const evaluated = await runInterleaved(evaluateEach(context.request), call);
    deps.countValidations(call, evaluated);
    const valid = evaluated.filter(({ status }) => status === "APPLICABLE");
    const shown = (each: EvaluatedRedeemable) =>
      tierValidationToProto(each, context, { call, tracking });
    return {
      $typeName: "scrip.validation.v1.PromotionsValidation",
      valid: valid.length > 0,
      promotions: await mapInterleaved(valid, shown, call),
      ...(tracking !== undefined && { trackingId: tracking }),
    };
  };

/** Each tier is evaluated alone, on the untouched order. */
function* evaluateEach(request: DecisionRequest): Generator<void, readonly EvaluatedRedeemable[]> {
  const evaluated: EvaluatedRedeemable[] = [];
  for (const redeemable of request.redeemables) {
    if (evaluated.length > 0) yield;
    const decision = yield* decideStepwise({ ...request, redeemables: [redeemable] });
    evaluated.push(...decision.redeemables);
  }
  return evaluated;
}
