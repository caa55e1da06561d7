import type {
  ValidationService,
  VoucherValidation,
} from "@scrip/proto/scrip/validation/v1/validations_pb";
import type { Voucher } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Call, Handlers } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import type { JudgedRedeemable } from "../domain/decision/decision.ts";
import { applicableItemsToProto } from "../mapping/applicable-to.ts";
import { toRefusal } from "../mapping/error.ts";
import {
  discountResultToProto,
  giftResultToProto,
  loyaltyResultOf,
} from "../mapping/result-details.ts";
import { singleValidationToProto } from "../mapping/single-validation.ts";
import { runValidation, type ValidationOutcome } from "../validation/run-validation.ts";
import { type SingleVoucherRequest, singleVoucherInput } from "../validation/single-voucher.ts";

export const validateVoucher =
  (deps: Deps): Handlers<typeof ValidationService>["validateVoucher"] =>
  (sent, call) =>
    validateSingleVoucher(deps, call, sent);

export async function validateSingleVoucher(
  deps: Deps,
  call: Call,
  sent: SingleVoucherRequest,
): Promise<VoucherValidation> {
  const { asked, options } = singleVoucherInput(sent);
  const validated = await runValidation(deps, call, asked, options);
  const [judged] = validated.decision.redeemables;
  const voucher = validated.gathered.vouchers.get(sent.code)?.voucher;
  if (judged === undefined || voucher === undefined) {
    throw new Error("a decision without its redeemable");
  }
  // A loyalty card without a reward is a malformed request, not an answer (§5.4).
  if (judged.status === "INAPPLICABLE" && judged.refusal.key === "missing_reward") {
    throw toRefusal(judged.refusal);
  }
  return voucherValidationToProto(judged, voucher, validated, call);
}

function voucherValidationToProto(
  judged: JudgedRedeemable,
  voucher: Voucher,
  { gathered, tracking, session }: ValidationOutcome,
  call: Call,
): VoucherValidation {
  const isValid = judged.status === "APPLICABLE";
  const discount = isValid ? discountResultToProto(voucher.discount, judged.benefit) : undefined;
  const gift = isValid ? giftResultToProto(judged.benefit) : undefined;
  const card = gathered.cards.get(voucher.id);
  const loyalty = isValid ? loyaltyResultOf(judged.benefit, card) : undefined;
  return {
    $typeName: "scrip.validation.v1.VoucherValidation",
    code: voucher.code,
    ...applicableItemsToProto(judged),
    metadata: voucher.metadata ?? {},
    ...singleValidationToProto(judged, gathered, call),
    ...(voucher.campaign !== undefined && { campaign: voucher.campaign }),
    ...(voucher.campaignId !== undefined && { campaignId: voucher.campaignId }),
    ...(tracking !== undefined && { trackingId: tracking }),
    ...(session !== undefined && { session }),
    ...(discount !== undefined && { discount }),
    ...(gift !== undefined && { gift }),
    ...(loyalty !== undefined && {
      loyalty: { $typeName: "scrip.validation.v1.LoyaltyCost", pointsCost: loyalty.points },
      ...(loyalty.reward !== undefined && { reward: loyalty.reward }),
    }),
    ...(isValid && voucher.startDate !== undefined && { startDate: voucher.startDate }),
    ...(isValid &&
      voucher.expirationDate !== undefined && { expirationDate: voucher.expirationDate }),
  };
}
