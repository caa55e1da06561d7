import type { ValidationService } from "@scrip/proto/scrip/validation/v1/validations_pb";
import type { Redemption } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { Call, Handlers } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { readerOf } from "../mapping/explanation.ts";
import { singleRedemption } from "../mapping/redemptions.ts";
import { redeemAsked } from "../redemption/run-redemption.ts";
import { type OneVoucher, oneVoucher } from "../validation/single-voucher.ts";

export const redeemVoucher =
  (deps: Deps): Handlers<typeof ValidationService>["redeemVoucher"] =>
  (sent, call) =>
    redeemOneVoucher(deps, call, sent);

export async function redeemOneVoucher(
  deps: Deps,
  call: Call,
  sent: OneVoucher,
): Promise<Redemption> {
  const { asked, options } = oneVoucher(sent);
  const { made, note } = await redeemAsked(deps, call, asked, options);
  return singleRedemption(made, note, readerOf(call));
}
