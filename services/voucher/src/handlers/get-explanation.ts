import { Refusal } from "@scrip/errors";
import type { RedemptionService } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { Handler } from "@scrip/rpc";

/** How a redemption was decided. */
export const getExplanation = (): Handler<typeof RedemptionService.method.getExplanation> => () => {
  throw new Refusal("not_implemented");
};
