import type { CardService } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { listPendingSpends as list } from "../store/points-holds.ts";

export const listPendingSpends =
  (deps: Deps): Handler<typeof CardService.method.listPendingSpends> =>
  async ({ olderThanMs, limit }) => {
    const found = await list(deps.db, { olderThanMs: Number(olderThanMs), limit: Number(limit) });
    return {
      $typeName: "scrip.loyalty.v1.ListPendingSpendsResponse",
      spends: found.map(({ projectId, id: spendId }) => ({
        $typeName: "scrip.loyalty.v1.PendingSpend",
        projectId,
        spendId,
      })),
    };
  };
