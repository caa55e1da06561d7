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
    const total = await adjustPending(deps, request, call);
    deps.onEvents();
    return create(PendingPointsAdjustmentSchema, {
      points: request.points,
      total,
      relatedObject: { type: "voucher", id: requireCardId(request) },
      operationType: "MANUAL",
    });
  };
