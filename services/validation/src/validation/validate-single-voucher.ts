import type { VoucherValidation } from "@scrip/proto/scrip/validation/v1/validations_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { toRefusal } from "../mapping/error.ts";
import { voucherValidationToProto } from "../mapping/voucher-validation.ts";
import { runValidation } from "./run-validation.ts";
import { type SingleVoucherRequest, singleVoucherInput } from "./single-voucher.ts";

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
