import { notFound } from "@scrip/errors";
import type { RedemptionService } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { findRedemption } from "../store/redemptions.ts";
import { findVouchersById } from "../store/vouchers.ts";
import { toRedemption } from "./redemption-message.ts";

export const getRedemption =
  (deps: Deps): Handler<typeof RedemptionService.method.getRedemption> =>
  async ({ redemptionId }, call) => {
    const projectId = call.project.id;
    const redemption = await findRedemption(deps.db, projectId, redemptionId);
    if (redemption === undefined) throw notFound("redemption", redemptionId);
    const { voucherId: id } = redemption;
    const [voucher] = id === null ? [] : await findVouchersById(deps.db, [{ projectId, id }]);
    return toRedemption(redemption, voucher);
  };
