import type { ValidationService } from "@scrip/proto/scrip/validation/v1/validations_pb";
import type { Handlers } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { redeemSingleVoucher } from "../redemption/redeem-single-voucher.ts";

export const redeemCode =
  (deps: Deps): Handlers<typeof ValidationService>["redeemCode"] =>
  (sent, call) =>
    redeemSingleVoucher(deps, call, sent);
