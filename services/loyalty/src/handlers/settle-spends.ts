import type { CardService } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { settle } from "../points/settle-points-holds.ts";

export const settleSpends =
  (deps: Deps): Handler<typeof CardService.method.settleSpends> =>
  async ({ ends }) => {
    await settle(deps, {
      ends: ends.map(({ projectId, spendId, redemptionId = null }) => ({
        projectId,
        spendId,
        redemptionId,
      })),
    });
    return { $typeName: "scrip.loyalty.v1.SettleSpendsResponse" };
  };
