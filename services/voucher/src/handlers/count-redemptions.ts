import { Refusal } from "@scrip/errors";
import type { RedemptionService } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { Handler } from "@scrip/rpc";

/** How much was redeemed. */
export const countRedemptions =
  (): Handler<typeof RedemptionService.method.countRedemptions> => () => {
    throw new Refusal("not_implemented");
  };
