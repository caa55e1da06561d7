import { Refusal } from "@scrip/errors";
import type { RedemptionService } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { Handler } from "@scrip/rpc";

/** Gives value back. */
export const commitRollbacks =
  (): Handler<typeof RedemptionService.method.commitRollbacks> => () => {
    throw new Refusal("not_implemented");
  };
