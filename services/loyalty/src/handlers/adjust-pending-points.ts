import { create } from "@bufbuild/protobuf";
import {
  PendingPointsAdjustmentSchema,
  type PendingPointsService,
} from "@scrip/proto/scrip/loyalty/v1/pending_points_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { adjustPending, requireCardId } from "../points/change-pending.ts";

export const adjustPendingPoints =
  (deps: Deps): Handler<typeof PendingPointsService.method.adjustPendingPoints> =>
  async (request, call) => {
    const { points = 0n } = request;
    const total = await adjustPending(deps, { ...request, points }, call);
    deps.onEvents();
    return create(PendingPointsAdjustmentSchema, {
      points,
      total,
      relatedObject: { type: "voucher", id: requireCardId(request) },
      operationType: "MANUAL",
    });
  };
