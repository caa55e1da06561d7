import type { RedemptionService } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { abandonSpends as abandon } from "../points/release-holds.ts";

export const abandonSpends =
  (deps: Deps): Handler<typeof RedemptionService.method.abandonSpends> =>
  async ({ spends }) => {
    await abandon(deps, spends);
    return { $typeName: "scrip.voucher.v1.AbandonSpendsResponse" };
  };
