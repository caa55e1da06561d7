import { create } from "@bufbuild/protobuf";
import { OrderInputSchema } from "@scrip/proto/scrip/common/v1/order_pb";
import type { ValidationService } from "@scrip/proto/scrip/validation/v1/validations_pb";
import type { Handlers } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { validateSingleVoucher } from "../validation/validate-single-voucher.ts";

export const validateCode =
  (deps: Deps): Handlers<typeof ValidationService>["validateCode"] =>
  ({ amount, order, ...sent }, call) => {
    const input = amount === undefined ? order : { ...(order ?? create(OrderInputSchema)), amount };
    return validateSingleVoucher(deps, call, {
      ...sent,
      ...(input !== undefined && { order: input }),
    });
  };
