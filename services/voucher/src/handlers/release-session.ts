import { Refusal } from "@scrip/errors";
import type { RedemptionService } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { Handler } from "@scrip/rpc";

/** Gives back what a session holds of a voucher. */
export const releaseSession = (): Handler<typeof RedemptionService.method.releaseSession> => () => {
  throw new Refusal("not_implemented");
};
