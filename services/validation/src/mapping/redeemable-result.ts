import { create } from "@bufbuild/protobuf";
import type { Category } from "@scrip/proto/scrip/common/v1/category_pb";
import {
  type RedeemableResult,
  RedeemableResultSchema,
  type ResultDetails,
  ResultDetailsSchema,
} from "@scrip/proto/scrip/validation/v1/validations_pb";
import { type Call, showsOrders } from "@scrip/rpc";

import type { EvaluatedRedeemable } from "../domain/decision/decision.ts";
import { categoryKind } from "../domain/stacking/exclusive-categories.ts";
import { applicableItemsToProto } from "./applicable-to.ts";
import { bundleToProto } from "./bundle.ts";
import type { DecisionContext } from "./decision-context.ts";
import { expandOf } from "./decision-input.ts";
import { rejectionToProto } from "./error.ts";
import { explanationToProto, audienceOf } from "./explanation.ts";
import { hintsToProto } from "./hints.ts";
import { orderToProto } from "./order.ts";
import { discountResultToProto, giftResultToProto, loyaltyResultOf } from "./result-details.ts";

/** The result for one redeemable, with the parts that the request expands. */
export function redeemableResultToProto(
  evaluated: EvaluatedRedeemable,
  context: DecisionContext,
  call: Call,
): RedeemableResult {
  const { input, storedOrder } = context;
  const { object, id } = evaluated.redeemable;
  const expand = expandOf(input);
  return create(RedeemableResultSchema, {
    status: evaluated.status,
    id,
    object,
    result: resultDetailsToProto(evaluated, context, call),
    ...applicableItemsToProto(evaluated),
    ...(evaluated.status === "APPLICABLE" &&
      showsOrders(input.options?.expand) &&
      evaluated.order !== null &&
      input.order !== undefined && {
        order: orderToProto(evaluated.order, input.order, storedOrder),
      }),
    ...(expand.has("redeemable") && redeemableDetails(evaluated, context)),
    ...(expand.has("category") && {
      categories: categoriesOf(evaluated, context),
      expandsCategories: true,
    }),
  });
}

function resultDetailsToProto(
  evaluated: EvaluatedRedeemable,
  context: DecisionContext,
  call: Call,
): ResultDetails {
  const expand = expandOf(context.input);
  const audience = audienceOf(call);
  const explanation = expand.has("explanation")
    ? explanationToProto(evaluated, audience)
    : undefined;
  const explained = explanation !== undefined && { explanation };
  switch (evaluated.status) {
    case "APPLICABLE": {
      const discount = discountResultToProto(definitionOf(evaluated, context), evaluated.benefit);
      const gift = giftResultToProto(evaluated.benefit);
      const loyalty = loyaltyResultOf(evaluated.benefit, cardOf(evaluated, context));
      return create(ResultDetailsSchema, {
        ...(discount !== undefined && { discount }),
        ...(gift !== undefined && { gift }),
        ...(loyalty !== undefined && {
          loyaltyCard: { points: loyalty.points },
          ...(loyalty.reward !== undefined && { reward: loyalty.reward }),
        }),
        ...(evaluated.bundle !== null && { bundle: bundleToProto(evaluated.bundle) }),
        ...explained,
      });
    }
    case "SKIPPED":
      return create(ResultDetailsSchema, { details: { ...evaluated.skip }, ...explained });
    case "INAPPLICABLE": {
      const error = rejectionToProto(evaluated.rejection, call.requestId);
      const message = error.error?.message ?? error.message;
      return create(ResultDetailsSchema, {
        error,
        details: { key: error.key, message },
        ...(evaluated.bundle !== null && { bundle: bundleToProto(evaluated.bundle) }),
        ...(expand.has("hints") && { hints: hintsToProto(evaluated.hints, audience) }),
        ...explained,
      });
    }
    default:
      return evaluated satisfies never;
  }
}

const cardOf = ({ redeemable }: EvaluatedRedeemable, { cards }: DecisionContext) =>
  redeemable.object === "voucher" ? cards.get(redeemable.voucher?.id ?? "") : undefined;

/** The discount as defined, before calculation. */
function definitionOf(
  { redeemable }: EvaluatedRedeemable,
  { vouchers, promotions }: DecisionContext,
) {
  return redeemable.object === "voucher"
    ? vouchers.get(redeemable.id)?.voucher?.discount
    : promotions.tiers.get(redeemable.id)?.action?.discount;
}

function redeemableDetails(
  { redeemable }: EvaluatedRedeemable,
  { vouchers, promotions }: DecisionContext,
) {
  const snapshot = redeemable.object === "voucher" ? redeemable.voucher : redeemable.tier;
  if (snapshot === null) return {};
  const voucher = vouchers.get(redeemable.id)?.voucher;
  const tier = promotions.tiers.get(redeemable.id);
  const campaignName = snapshot.campaign?.name ?? voucher?.campaign;
  const campaignId = snapshot.campaign?.id ?? voucher?.campaignId;
  return {
    metadata: voucher?.metadata ?? tier?.metadata ?? {},
    ...(campaignName !== undefined && { campaignName }),
    ...(campaignId !== undefined && { campaignId }),
    ...(tier !== undefined && { name: tier.name }),
  };
}

/** Categories of the redeemable, then of its campaign. */
function categoriesOf({ redeemable }: EvaluatedRedeemable, context: DecisionContext): Category[] {
  const { vouchers, promotions, categories, stacking } = context;
  const snapshot = redeemable.object === "voucher" ? redeemable.voucher : redeemable.tier;
  const own = categories.get(vouchers.get(redeemable.id)?.voucher?.categoryId ?? "");
  const all = [
    ...(own === undefined ? [] : [own]),
    ...(promotions.tiers.get(redeemable.id)?.categories ?? []),
    ...(promotions.campaigns.get(snapshot?.campaign?.id ?? "")?.categories ?? []),
  ];
  return [...new Map(all.map((category) => [category.id, category])).values()].map((category) => ({
    ...category,
    stackingRulesType: categoryKind(category.id, stacking),
  }));
}
