import { create } from "@bufbuild/protobuf";
import {
  PendingPointsActivationSchema,
  type PendingPointsService,
} from "@scrip/proto/scrip/loyalty/v1/pending_points_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { activatePending, requireCardId } from "../points/change-pending.ts";

export const activatePendingPoints =
  (deps: Deps): Handler<typeof PendingPointsService.method.activatePendingPoints> =>
  async (request, call) => {
    const activation = await activatePending(deps, request, call);
    deps.onEvents();
    return create(PendingPointsActivationSchema, {
      ...activation,
      type: "loyalty_card",
      relatedObject: { type: "voucher", id: requireCardId(request) },
      operationType: "MANUAL",
    });
  };
