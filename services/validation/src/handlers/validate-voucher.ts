import type { ValidationService } from "@scrip/proto/scrip/validation/v1/validations_pb";
import type { Handlers } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { validateSingleVoucher } from "../validation/validate-single-voucher.ts";

export const validateVoucher =
  (deps: Deps): Handlers<typeof ValidationService>["validateVoucher"] =>
  (sent, call) =>
    validateSingleVoucher(deps, call, sent);
