import type { CardService } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { projectTimeFromProto } from "../mapping/project-time.ts";
import { resolveHolds } from "../points/resolve-holds.ts";

export const refundPoints =
  (deps: Deps): Handler<typeof CardService.method.refundPoints> =>
  async ({ refunds }) => {
    await resolveHolds(deps, {
      refunds: refunds.map((refund) => ({ ...refund, at: projectTimeFromProto(refund) })),
    });
    return { $typeName: "scrip.loyalty.v1.RefundPointsResponse" };
  };
