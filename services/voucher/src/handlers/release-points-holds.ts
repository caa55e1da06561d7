import type { RedemptionService } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { releasePointsHolds as release } from "../points/release-holds.ts";

export const releasePointsHolds =
  (deps: Deps): Handler<typeof RedemptionService.method.releasePointsHolds> =>
  async ({ holds }) => {
    await release(deps, holds);
    return { $typeName: "scrip.voucher.v1.ReleasePointsHoldsResponse" };
  };
