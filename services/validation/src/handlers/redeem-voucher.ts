import type { ValidationService } from "@scrip/proto/scrip/validation/v1/validations_pb";
import type { Handlers } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { redeemSingleVoucher } from "../redemption/redeem-single-voucher.ts";

export const redeemVoucher =
  (deps: Deps): Handlers<typeof ValidationService>["redeemVoucher"] =>
  (sent, call) =>
    redeemSingleVoucher(deps, call, sent);
