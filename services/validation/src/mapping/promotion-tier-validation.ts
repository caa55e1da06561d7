import type { PromotionTierValidation } from "@scrip/proto/scrip/validation/v1/validations_pb";
import type { Call } from "@scrip/rpc";

import type { EvaluatedRedeemable } from "../domain/decision/decision.ts";
import { applicableItemsToProto } from "./applicable-to.ts";
import type { DecisionContext } from "./decision-context.ts";
import { tierCampaignToProto } from "./promotion-tier.ts";
import { discountResultToProto } from "./result-details.ts";
import { singleValidationToProto } from "./single-validation.ts";

export function tierValidationToProto(
  evaluated: EvaluatedRedeemable,
  context: DecisionContext,
  { call, tracking }: { readonly call: Call; readonly tracking: string | undefined },
): PromotionTierValidation {
  const tier = context.promotions.tiers.get(evaluated.redeemable.id);
  if (tier === undefined) throw new Error("a decision without its promotion tier");
  const { banner, startDate, expirationDate } = tier;
  const defined = tier.action?.discount;
  const isValid = evaluated.status === "APPLICABLE";
  const discount = isValid ? discountResultToProto(defined, evaluated.benefit) : defined;
  const figures = isValid ? evaluated.order : null;
  const campaign = tierCampaignToProto(tier, context.promotions);
  return {
    $typeName: "scrip.validation.v1.PromotionTierValidation",
    id: tier.id,
    name: tier.name,
    hierarchy: tier.hierarchy,
    metadata: tier.metadata ?? {},
    ...applicableItemsToProto(evaluated),
    discountAmount: figures?.totalDiscountAmount ?? 0n,
    appliedDiscountAmount: figures?.totalAppliedDiscountAmount ?? 0n,
    ...singleValidationToProto(evaluated, context, call),
    ...(tracking !== undefined && { trackingId: tracking }),
    ...(banner !== undefined && { banner }),
    ...(discount !== undefined && { discount }),
    ...(campaign !== undefined && { campaign }),
    ...(startDate !== undefined && { startDate }),
    ...(expirationDate !== undefined && { expirationDate }),
  };
}
