import type { ValidationService } from "@scrip/proto/scrip/validation/v1/validations_pb";
import type { Redemption } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { Call, Handlers } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { audienceOf } from "../mapping/explanation.ts";
import { singleRedemptionToProto } from "../mapping/redemptions.ts";
import { runRedemption } from "../redemption/run-redemption.ts";
import { type SingleVoucherRequest, singleVoucherInput } from "../validation/single-voucher.ts";

export const redeemVoucher =
  (deps: Deps): Handlers<typeof ValidationService>["redeemVoucher"] =>
  (sent, call) =>
    redeemSingleVoucher(deps, call, sent);

export async function redeemSingleVoucher(
  deps: Deps,
  call: Call,
  sent: SingleVoucherRequest,
): Promise<Redemption> {
  const { asked, options } = singleVoucherInput(sent);
  const { made, note } = await runRedemption(deps, call, asked, options);
  return singleRedemptionToProto(made, note, audienceOf(call));
}
