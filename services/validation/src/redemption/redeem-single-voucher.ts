import type { Redemption } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { audienceOf } from "../mapping/explanation.ts";
import { singleRedemptionToProto } from "../mapping/redemptions.ts";
import { type SingleVoucherRequest, singleVoucherInput } from "../validation/single-voucher.ts";
import { runRedemption } from "./run-redemption.ts";

export async function redeemSingleVoucher(
  deps: Deps,
  call: Call,
  sent: SingleVoucherRequest,
): Promise<Redemption> {
  const { input, options } = singleVoucherInput(sent);
  const { committed, replayData } = await runRedemption(deps, call, input, options);
  return singleRedemptionToProto(committed, replayData, audienceOf(call));
}
