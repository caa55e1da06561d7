import { create } from "@bufbuild/protobuf";
import type { Category } from "@scrip/proto/scrip/common/v1/category_pb";
import {
  type RedeemableResult,
  RedeemableResultSchema,
  type ResultDetails,
  ResultDetailsSchema,
} from "@scrip/proto/scrip/validation/v1/validations_pb";
import type { Call } from "@scrip/rpc";

import type { JudgedRedeemable } from "../domain/decision/decision.ts";
import { categoryKind } from "../domain/stacking/stacking-rules.ts";
import type { Gathered } from "../loading/decision-context.ts";
import { scopeLists } from "./applicable-to.ts";
import { bundleMessage } from "./bundle.ts";
import { expandOf } from "./decision-input.ts";
import { errorMessage } from "./error.ts";
import { explanationOf, readerOf } from "./explanation.ts";
import { hintMessages } from "./hints.ts";
import { orderMessage } from "./order.ts";
import { discountResult, giftResult, loyaltyResult } from "./result-details.ts";

/** One redeemable of an answer, with as much beside it as was asked for. */
export function redeemableResult(
  judged: JudgedRedeemable,
  gathered: Gathered,
  call: Call,
): RedeemableResult {
  const { asked, stored } = gathered;
  const { object, id } = judged.redeemable;
  const expand = expandOf(asked);
  // Asking for something else leaves the order out unless it is asked for as well.
  const showsOrder = expand.has("order") || !expand.has("redeemable");
  return create(RedeemableResultSchema, {
    status: judged.status,
    id,
    object,
    result: resultOf(judged, gathered, call),
    ...scopeLists(judged),
    ...(judged.status === "APPLICABLE" &&
      showsOrder &&
      judged.order !== null &&
      asked.order !== undefined && { order: orderMessage(judged.order, asked.order, stored) }),
    ...(expand.has("redeemable") && describe(judged, gathered)),
    ...(expand.has("category") && { categories: categoriesOf(judged, gathered) }),
  });
}

function resultOf(judged: JudgedRedeemable, gathered: Gathered, call: Call): ResultDetails {
  const expand = expandOf(gathered.asked);
  const reader = readerOf(call);
  const explanation = expand.has("explanation") ? explanationOf(judged, reader) : undefined;
  const explained = explanation !== undefined && { explanation };
  switch (judged.status) {
    case "APPLICABLE": {
      const discount = discountResult(definitionOf(judged, gathered), judged.benefit);
      const gift = giftResult(judged.benefit);
      const loyalty = loyaltyResult(judged.benefit, cardOf(judged, gathered));
      return create(ResultDetailsSchema, {
        ...(discount !== undefined && { discount }),
        ...(gift !== undefined && { gift }),
        ...(loyalty !== undefined && {
          loyaltyCard: { points: loyalty.points },
          ...(loyalty.reward !== undefined && { reward: loyalty.reward }),
        }),
        ...(judged.bundle !== null && { bundle: bundleMessage(judged.bundle) }),
        ...explained,
      });
    }
    case "SKIPPED":
      return create(ResultDetailsSchema, { details: { ...judged.skip }, ...explained });
    case "INAPPLICABLE": {
      const error = errorMessage(judged.refusal, call.requestId);
      const message = error.error?.message ?? error.message;
      return create(ResultDetailsSchema, {
        error,
        details: { key: error.key, message },
        ...(judged.bundle !== null && { bundle: bundleMessage(judged.bundle) }),
        ...(expand.has("hints") && { hints: hintMessages(judged.hints, reader) }),
        ...explained,
      });
    }
    default:
      return judged satisfies never;
  }
}

const cardOf = ({ redeemable }: JudgedRedeemable, { cards }: Gathered) =>
  redeemable.object === "voucher" ? cards.get(redeemable.voucher?.id ?? "") : undefined;

/** The discount of a voucher or tier as it was defined. */
function definitionOf({ redeemable }: JudgedRedeemable, { vouchers, promotions }: Gathered) {
  return redeemable.object === "voucher"
    ? vouchers.get(redeemable.id)?.voucher?.discount
    : promotions.tiers.get(redeemable.id)?.action?.discount;
}

function describe({ redeemable }: JudgedRedeemable, { vouchers, promotions }: Gathered) {
  const facts = redeemable.object === "voucher" ? redeemable.voucher : redeemable.tier;
  if (facts === null) return {};
  const voucher = vouchers.get(redeemable.id)?.voucher;
  const tier = promotions.tiers.get(redeemable.id);
  const campaignName = facts.campaign?.name ?? voucher?.campaign;
  const campaignId = facts.campaign?.id ?? voucher?.campaignId;
  return {
    metadata: voucher?.metadata ?? tier?.metadata ?? {},
    ...(campaignName !== undefined && { campaignName }),
    ...(campaignId !== undefined && { campaignId }),
    ...(tier !== undefined && { name: tier.name }),
  };
}

/** Of the redeemable itself, then of its campaign. */
function categoriesOf({ redeemable }: JudgedRedeemable, gathered: Gathered): Category[] {
  const { vouchers, promotions, categories, stacking } = gathered;
  const facts = redeemable.object === "voucher" ? redeemable.voucher : redeemable.tier;
  const own = categories.get(vouchers.get(redeemable.id)?.voucher?.categoryId ?? "");
  const all = [
    ...(own === undefined ? [] : [own]),
    ...(promotions.tiers.get(redeemable.id)?.categories ?? []),
    ...(promotions.campaigns.get(facts?.campaign?.id ?? "")?.categories ?? []),
  ];
  return [...new Map(all.map((category) => [category.id, category])).values()].map((category) => ({
    ...category,
    stackingRulesType: categoryKind(category.id, stacking),
  }));
}
