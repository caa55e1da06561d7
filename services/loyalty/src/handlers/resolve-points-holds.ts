import type { CardService } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { settle } from "../points/settle-points-holds.ts";

export const resolvePointsHolds =
  (deps: Deps): Handler<typeof CardService.method.resolvePointsHolds> =>
  async ({ resolutions: ends }) => {
    await settle(deps, {
      ends: ends.map(({ projectId, holdId: spendId, redemptionId = null }) => ({
        projectId,
        spendId,
        redemptionId,
      })),
    });
    return { $typeName: "scrip.loyalty.v1.ResolvePointsHoldsResponse" };
  };
