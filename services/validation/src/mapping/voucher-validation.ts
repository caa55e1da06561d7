import type { Session } from "@scrip/proto/scrip/common/v1/session_pb";
import type { VoucherValidation } from "@scrip/proto/scrip/validation/v1/validations_pb";
import type { Voucher } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Call } from "@scrip/rpc";

import type { EvaluatedRedeemable } from "../domain/decision/decision.ts";
import { applicableItemsToProto } from "./applicable-to.ts";
import type { DecisionContext } from "./decision-context.ts";
import { discountResultToProto, giftResultToProto, loyaltyResultOf } from "./result-details.ts";
import { singleValidationToProto } from "./single-validation.ts";

export function voucherValidationToProto(
  evaluated: EvaluatedRedeemable,
  voucher: Voucher,
  {
    context,
    tracking,
    session,
  }: {
    readonly context: DecisionContext;
    readonly tracking: string | undefined;
    readonly session: Session | undefined;
  },
  call: Call,
): VoucherValidation {
  const isValid = evaluated.status === "APPLICABLE";
  const discount = isValid ? discountResultToProto(voucher.discount, evaluated.benefit) : undefined;
  const gift = isValid ? giftResultToProto(evaluated.benefit) : undefined;
  const card = context.cards.get(voucher.id);
  const loyalty = isValid ? loyaltyResultOf(evaluated.benefit, card) : undefined;
  return {
    $typeName: "scrip.validation.v1.VoucherValidation",
    code: voucher.code,
    ...applicableItemsToProto(evaluated),
    metadata: voucher.metadata ?? {},
    ...singleValidationToProto(evaluated, context, call),
    ...(voucher.campaign !== undefined && { campaign: voucher.campaign }),
    ...(voucher.campaignId !== undefined && { campaignId: voucher.campaignId }),
    ...(tracking !== undefined && { trackingId: tracking }),
    ...(session !== undefined && { session }),
    ...(discount !== undefined && { discount }),
    ...(gift !== undefined && {
      gift: { ...gift, ...(voucher.gift !== undefined && { amount: voucher.gift.amount }) },
    }),
    ...(loyalty !== undefined && {
      loyalty: { $typeName: "scrip.validation.v1.LoyaltyCost", pointsCost: loyalty.points },
      ...(loyalty.reward !== undefined && { reward: loyalty.reward }),
    }),
    ...(isValid && voucher.startDate !== undefined && { startDate: voucher.startDate }),
    ...(isValid &&
      voucher.expirationDate !== undefined && { expirationDate: voucher.expirationDate }),
  };
}
