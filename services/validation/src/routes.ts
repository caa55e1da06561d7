import { ValidationService } from "@scrip/proto/scrip/validation/v1/validations_pb";
import { implement } from "@scrip/rpc";

import type { Deps } from "./deps.ts";
import { redeemVoucher } from "./handlers/redeem-voucher.ts";
import { validateVoucher } from "./handlers/validate-voucher.ts";
import { validate } from "./handlers/validate.ts";

/** The table of contents of this service: one line for each RPC. */
export const routes = (deps: Deps) => [
  implement(ValidationService, {
    validateVoucher: validateVoucher(deps),
    validate: validate(deps),
    redeemVoucher: redeemVoucher(deps),
  }),
];
