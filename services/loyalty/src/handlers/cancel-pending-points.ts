import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import type { PendingPointsService } from "@scrip/proto/scrip/loyalty/v1/pending_points_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { cancelPending } from "../points/change-pending.ts";

export const cancelPendingPoints =
  (deps: Deps): Handler<typeof PendingPointsService.method.cancelPendingPoints> =>
  async (request, call) => {
    await cancelPending(deps, request, call);
    deps.onEvents();
    return create(EmptySchema);
  };
