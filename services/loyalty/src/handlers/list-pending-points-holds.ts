import type { CardService } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { listPendingPointsHolds as list } from "../store/points-holds.ts";

export const listPendingPointsHolds =
  (deps: Deps): Handler<typeof CardService.method.listPendingPointsHolds> =>
  async ({ olderThanMs, limit }) => {
    const found = await list(deps.db, { olderThanMs: Number(olderThanMs), limit: Number(limit) });
    return {
      $typeName: "scrip.loyalty.v1.ListPendingPointsHoldsResponse",
      holds: found.map(({ projectId, id: holdId }) => ({
        $typeName: "scrip.loyalty.v1.PendingPointsHold",
        projectId,
        holdId,
      })),
    };
  };
