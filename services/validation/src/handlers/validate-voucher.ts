import type {
  ValidationService,
  VoucherValidation,
} from "@scrip/proto/scrip/validation/v1/validations_pb";
import type { Voucher } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Call, Handlers } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import type { JudgedRedeemable } from "../domain/decision/decision.ts";
import { scopeLists } from "../mapping/applicable-to.ts";
import { toRefusal } from "../mapping/error.ts";
import { discountResult, giftResult, loyaltyResult } from "../mapping/result-details.ts";
import { singleResult } from "../mapping/single-validation.ts";
import { validateAsked, type Validated } from "../validation/run-validation.ts";
import { type OneVoucher, oneVoucher } from "../validation/single-voucher.ts";

export const validateVoucher =
  (deps: Deps): Handlers<typeof ValidationService>["validateVoucher"] =>
  (sent, call) =>
    validateOneVoucher(deps, call, sent);

export async function validateOneVoucher(
  deps: Deps,
  call: Call,
  sent: OneVoucher,
): Promise<VoucherValidation> {
  const { asked, options } = oneVoucher(sent);
  const validated = await validateAsked(deps, call, asked, options);
  const [judged] = validated.decision.redeemables;
  const voucher = validated.gathered.vouchers.get(sent.code)?.voucher;
  if (judged === undefined || voucher === undefined) {
    throw new Error("a decision without its redeemable");
  }
  // A loyalty card without a reward is a malformed request, not an answer (§5.4).
  if (judged.status === "INAPPLICABLE" && judged.refusal.key === "missing_reward") {
    throw toRefusal(judged.refusal);
  }
  return answerOf(judged, voucher, validated, call);
}

function answerOf(
  judged: JudgedRedeemable,
  voucher: Voucher,
  { gathered, tracking, session }: Validated,
  call: Call,
): VoucherValidation {
  const isValid = judged.status === "APPLICABLE";
  const discount = isValid ? discountResult(voucher.discount, judged.benefit) : undefined;
  const gift = isValid ? giftResult(judged.benefit) : undefined;
  const card = gathered.cards.get(voucher.id);
  const loyalty = isValid ? loyaltyResult(judged.benefit, card) : undefined;
  return {
    $typeName: "scrip.validation.v1.VoucherValidation",
    code: voucher.code,
    ...scopeLists(judged),
    metadata: voucher.metadata ?? {},
    ...singleResult(judged, gathered, call),
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
