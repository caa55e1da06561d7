import { notFound } from "@scrip/errors";
import type { PendingPointsService } from "@scrip/proto/scrip/loyalty/v1/pending_points_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { keyOf } from "../domain/key.ts";
import { requireCardId } from "../points/change-pending.ts";
import { pendingPointsPage } from "../points/list-pending.ts";
import { findPrograms } from "../store/loyalty-programs.ts";

export const listMemberPendingPoints =
  (deps: Deps): Handler<typeof PendingPointsService.method.listMemberPendingPoints> =>
  async (request, { project }) => {
    const { campaignId: named, memberId, voucher } = request;
    const cardId = requireCardId(request);
    const campaignId = voucher?.campaignId ?? "";
    if (named !== undefined && named !== campaignId) {
      // The gateway resolves one reference of a request; the name of the program is checked here.
      const programs = await findPrograms(deps.db, [{ projectId: project.id, campaignId }]);
      if (programs.get(keyOf(project.id, campaignId))?.name !== named) {
        throw notFound("voucher", memberId);
      }
    }
    return pendingPointsPage(deps, { projectId: project.id, cardId, campaignId: null }, request);
  };
