import type { VoucherValidation } from "@scrip/proto/scrip/validation/v1/validations_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { rejectionToApiError } from "../mapping/error.ts";
import { voucherValidationToProto } from "../mapping/voucher-validation.ts";
import { runValidation } from "./run-validation.ts";
import { type SingleVoucherRequest, singleVoucherInput } from "./single-voucher.ts";

export async function validateSingleVoucher(
  deps: Deps,
  call: Call,
  sent: SingleVoucherRequest,
): Promise<VoucherValidation> {
  const { input, options } = singleVoucherInput(sent);
  const validated = await runValidation(deps, call, input, options);
  const [evaluated] = validated.decision.redeemables;
  const voucher = validated.context.vouchers.get(sent.code)?.voucher;
  if (evaluated === undefined || voucher === undefined) {
    throw new Error("a decision without its redeemable");
  }
  // A loyalty card without a reward is an invalid request, not an invalid voucher.
  if (evaluated.status === "INAPPLICABLE" && evaluated.rejection.key === "missing_reward") {
    throw rejectionToApiError(evaluated.rejection);
  }
  deps.countValidations(call, [evaluated]);
  return voucherValidationToProto(evaluated, voucher, validated, call);
}
