import type { ValidationService } from "@scrip/proto/scrip/validation/v1/validations_pb";
import type { Handlers } from "@scrip/rpc";

import { singleRedemption } from "../answer/redemptions.ts";
import type { Deps } from "../deps.ts";
import { oneVoucher } from "./one-voucher.ts";
import { redeemAsked } from "./redemption.ts";

export const redeemVoucher =
  (deps: Deps): Handlers<typeof ValidationService>["redeemVoucher"] =>
  async (sent, call) => {
    const { asked, options } = oneVoucher(sent);
    const { made, note } = await redeemAsked(deps, call, asked, options);
    return singleRedemption(made, note);
  };
