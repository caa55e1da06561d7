import { create } from "@bufbuild/protobuf";
import type { Category } from "@scrip/proto/scrip/common/v1/category_pb";
import type { Order, OrderInput } from "@scrip/proto/scrip/common/v1/order_pb";
import {
  type RedeemableRef,
  type RedeemableResult,
  RedeemableResultSchema,
  type ResultDetails,
  ResultDetailsSchema,
} from "@scrip/proto/scrip/validation/v1/validations_pb";
import type { Voucher } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";

import type { JudgedRedeemable } from "../domain/decision.ts";
import { categoryKind, DEFAULT_STACKING_RULES } from "../domain/stacking-rules.ts";
import { NOTHING_LISTED } from "./applicable-to.ts";
import { discountResult, giftResult } from "./benefit.ts";
import { errorMessage } from "./error.ts";
import { orderMessage } from "./order.ts";

export type ResultContext = {
  readonly voucher: Voucher | undefined;
  readonly ref: RedeemableRef | undefined;
  readonly input: OrderInput | undefined;
  readonly stored: Order | null;
  /** `options.expand` (spec/validation-and-redemption.md §5.3). */
  readonly expand: ReadonlySet<string>;
  readonly categories: ReadonlyMap<string, Category> | undefined;
  readonly requestId: string;
};

/** One redeemable of an answer, with as much beside it as was asked for. */
export function redeemableResult(
  judged: JudgedRedeemable,
  context: ResultContext,
): RedeemableResult {
  const { voucher, ref, input, stored, expand } = context;
  // Asking for something else leaves the order out unless it is asked for as well.
  const showsOrder = expand.has("order") || !expand.has("redeemable");
  return create(RedeemableResultSchema, {
    status: judged.status,
    id: ref?.id ?? judged.redeemable.id,
    object: ref?.object ?? judged.redeemable.object,
    result: resultOf(judged, context),
    ...(judged.status === "APPLICABLE" && {
      applicableTo: NOTHING_LISTED,
      inapplicableTo: NOTHING_LISTED,
      ...(showsOrder &&
        judged.order !== null &&
        input !== undefined && { order: orderMessage(judged.order, input, stored) }),
    }),
    ...(expand.has("redeemable") && voucher !== undefined && describe(voucher)),
    ...(expand.has("category") && { categories: categoriesOf(voucher, context) }),
  });
}

function resultOf(judged: JudgedRedeemable, { voucher, requestId }: ResultContext): ResultDetails {
  switch (judged.status) {
    case "APPLICABLE": {
      const discount = voucher && discountResult(voucher, judged.benefit);
      const gift = giftResult(judged.benefit);
      return create(ResultDetailsSchema, {
        ...(discount !== undefined && { discount }),
        ...(gift !== undefined && { gift }),
      });
    }
    case "SKIPPED":
      return create(ResultDetailsSchema, { details: { ...judged.skip } });
    case "INAPPLICABLE": {
      const error = errorMessage(judged.refusal, requestId);
      const { key, message } = error;
      return create(ResultDetailsSchema, { error, details: { key, message } });
    }
    default:
      return judged satisfies never;
  }
}

function describe(voucher: Voucher) {
  return {
    metadata: voucher.metadata ?? {},
    ...(voucher.campaign !== undefined && { campaignName: voucher.campaign }),
    ...(voucher.campaignId !== undefined && { campaignId: voucher.campaignId }),
  };
}

function categoriesOf(voucher: Voucher | undefined, { categories }: ResultContext): Category[] {
  const category = categories?.get(voucher?.categoryId ?? "");
  if (category === undefined) return [];
  const stackingRulesType = categoryKind(category.id, DEFAULT_STACKING_RULES);
  return [{ ...category, stackingRulesType }];
}
