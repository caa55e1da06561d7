import type { PromotionTierValidation } from "@scrip/proto/scrip/validation/v1/validations_pb";
import type { Call } from "@scrip/rpc";

import type { JudgedRedeemable } from "../domain/decision/decision.ts";
import { applicableItemsToProto } from "./applicable-to.ts";
import type { DecisionContext } from "./decision-context.ts";
import { tierCampaignToProto } from "./promotion-tier.ts";
import { discountResultToProto } from "./result-details.ts";
import { singleValidationToProto } from "./single-validation.ts";

/** What a promotion tier does to the order (spec/interface.md, promotion tier validation). */
export function tierValidationToProto(
  judged: JudgedRedeemable,
  gathered: DecisionContext,
  { call, tracking }: { readonly call: Call; readonly tracking: string | undefined },
): PromotionTierValidation {
  const tier = gathered.promotions.tiers.get(judged.redeemable.id);
  if (tier === undefined) throw new Error("a decision without its promotion tier");
  const { banner, startDate, expirationDate } = tier;
  const defined = tier.action?.discount;
  const isValid = judged.status === "APPLICABLE";
  const discount = isValid ? discountResultToProto(defined, judged.benefit) : defined;
  const figures = isValid ? judged.order : null;
  const campaign = tierCampaignToProto(tier, gathered.promotions);
  return {
    $typeName: "scrip.validation.v1.PromotionTierValidation",
    id: tier.id,
    name: tier.name,
    hierarchy: tier.hierarchy,
    metadata: tier.metadata ?? {},
    ...applicableItemsToProto(judged),
    discountAmount: figures?.totalDiscountAmount ?? 0n,
    appliedDiscountAmount: figures?.totalAppliedDiscountAmount ?? 0n,
    ...singleValidationToProto(judged, gathered, call),
    ...(tracking !== undefined && { trackingId: tracking }),
    ...(banner !== undefined && { banner }),
    ...(discount !== undefined && { discount }),
    ...(campaign !== undefined && { campaign }),
    ...(startDate !== undefined && { startDate }),
    ...(expirationDate !== undefined && { expirationDate }),
  };
}
