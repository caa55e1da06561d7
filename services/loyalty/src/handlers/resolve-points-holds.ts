import type { CardService } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { resolveHolds } from "../points/resolve-holds.ts";
import { followCards } from "../tiers/follow-cards.ts";

export const resolvePointsHolds =
  (deps: Deps): Handler<typeof CardService.method.resolvePointsHolds> =>
  async ({ resolutions }) => {
    const holds = await resolveHolds(deps, {
      resolutions: resolutions.map(({ projectId, holdId, redemptionId = null }) => ({
        projectId,
        holdId,
        redemptionId,
      })),
    });
    // Points of automatic redemptions count for tiers again when they are released.
    const automatic = holds.filter((hold) => hold.automatic);
    if (automatic.length > 0) {
      await deps.db.transaction((tx) => followCards(tx, deps, automatic, { program: "requalify" }));
      deps.onEvents();
    }
    return { $typeName: "scrip.loyalty.v1.ResolvePointsHoldsResponse" };
  };
