import { Refusal } from "@scrip/errors";
import type { RedemptionService } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { Handler } from "@scrip/rpc";

/** All redemptions of a project. */
export const listRedemptions =
  (): Handler<typeof RedemptionService.method.listRedemptions> => () => {
    throw new Refusal("not_implemented");
  };
