import type { CardService } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { instantIn } from "../mapping/card.ts";
import { settle } from "../points/settle-points-holds.ts";

export const refundPoints =
  (deps: Deps): Handler<typeof CardService.method.refundPoints> =>
  async ({ refunds }) => {
    await settle(deps, {
      refunds: refunds.map((one) => ({ ...one, spendId: one.holdId, at: instantIn(one) })),
    });
    return { $typeName: "scrip.loyalty.v1.RefundPointsResponse" };
  };
