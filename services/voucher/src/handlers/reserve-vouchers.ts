import { Refusal } from "@scrip/errors";
import type { RedemptionService } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { Handler } from "@scrip/rpc";

/** Locks what validations promised to their sessions. */
export const reserveVouchers =
  (): Handler<typeof RedemptionService.method.reserveVouchers> => () => {
    throw new Refusal("not_implemented");
  };
