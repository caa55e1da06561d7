import type { ValidationService } from "@scrip/proto/scrip/validation/v1/validations_pb";
import { type Handlers, runInterleaved, mapInterleaved } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import type { DecisionRequest } from "../domain/decide.ts";
import type { JudgedRedeemable } from "../domain/decision/decision.ts";
import { singleStacking } from "../domain/stacking/single-redeemable.ts";
import { gatherDecision } from "../loading/decision-context.ts";
import { gatherAllPromotions } from "../loading/promotions.ts";
import { gatherStackingRules } from "../loading/stacking-rules.ts";
import { tierValidation } from "../mapping/promotion-tier-validation.ts";
import { decisionOn, gatherCircumstances } from "../validation/run-validation.ts";

export const validatePromotions =
  (deps: Deps): Handlers<typeof ValidationService>["validatePromotions"] =>
  async (sent, call) => {
    const stacking = singleStacking(await gatherStackingRules(deps, call));
    const asked = { ...sent, redeemables: [] };
    const [{ circumstances, tracking }, promotions] = await Promise.all([
      gatherCircumstances(deps, call, asked, stacking),
      gatherAllPromotions(deps, call),
    ]);
    const tiers = [...promotions.tiers.values()].toSorted(
      (a, b) => Number(a.hierarchy - b.hierarchy) || (a.id < b.id ? -1 : 1),
    );
    const refs = tiers.map(({ id }) => ({ object: "promotion_tier" as const, id }));
    const named = { refs, vouchers: new Map(), promotions, earlier: undefined };
    const gathered = await gatherDecision(deps, call, circumstances, named);

    const judged = await runInterleaved(judgeEach(gathered.request), call.deadline);
    const valid = judged.filter(({ status }) => status === "APPLICABLE");
    const shown = (each: JudgedRedeemable) => tierValidation(each, gathered, { call, tracking });
    return {
      $typeName: "scrip.validation.v1.PromotionsValidation",
      valid: valid.length > 0,
      promotions: await mapInterleaved(valid, shown, call.deadline),
      ...(tracking !== undefined && { trackingId: tracking }),
    };
  };

/** Each on its own: what one gives, another does not see. */
function* judgeEach(request: DecisionRequest): Generator<void, readonly JudgedRedeemable[]> {
  const judged: JudgedRedeemable[] = [];
  for (const redeemable of request.redeemables) {
    if (judged.length > 0) yield;
    const decision = yield* decisionOn({ ...request, redeemables: [redeemable] });
    judged.push(...decision.redeemables);
  }
  return judged;
}
