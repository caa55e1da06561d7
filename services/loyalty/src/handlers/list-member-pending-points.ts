import type { PendingPointsService } from "@scrip/proto/scrip/loyalty/v1/pending_points_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { pendingPointsPage } from "../points/list-pending.ts";
import { requireMemberCard } from "../points/require-member-card.ts";

export const listMemberPendingPoints =
  (deps: Deps): Handler<typeof PendingPointsService.method.listMemberPendingPoints> =>
  async (request, { project }) => {
    const cardId = await requireMemberCard(deps, project.id, request);
    return pendingPointsPage(deps, { projectId: project.id, cardId, campaignId: null }, request);
  };
