import type { CardService } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { resolveHolds } from "../points/resolve-holds.ts";

export const resolvePointsHolds =
  (deps: Deps): Handler<typeof CardService.method.resolvePointsHolds> =>
  async ({ resolutions }) => {
    await resolveHolds(deps, {
      resolutions: resolutions.map(({ projectId, holdId, redemptionId = null }) => ({
        projectId,
        holdId,
        redemptionId,
      })),
    });
    return { $typeName: "scrip.loyalty.v1.ResolvePointsHoldsResponse" };
  };
