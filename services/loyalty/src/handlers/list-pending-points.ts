import type { PendingPointsService } from "@scrip/proto/scrip/loyalty/v1/pending_points_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { pendingPointsPage } from "../points/list-pending.ts";

export const listPendingPoints =
  (deps: Deps): Handler<typeof PendingPointsService.method.listPendingPoints> =>
  (request, { project }) =>
    pendingPointsPage(
      deps,
      { projectId: project.id, cardId: null, campaignId: request.campaignId },
      request,
    );
