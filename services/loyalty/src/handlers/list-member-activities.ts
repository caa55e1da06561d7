import type { ActivityService } from "@scrip/proto/scrip/loyalty/v1/activities_pb";
import type { Handler } from "@scrip/rpc";

import { listPage } from "../activity/list-page.ts";
import type { Deps } from "../deps.ts";
import { requireMemberCard } from "../points/require-member-card.ts";

export const listMemberActivities =
  (deps: Deps): Handler<typeof ActivityService.method.listMemberActivities> =>
  async (request, { project }) => {
    const cardId = await requireMemberCard(deps, project.id, request);
    const owner = {
      projectId: project.id,
      owners: [
        cardId,
        ...(request.voucher?.holderId === undefined ? [] : [request.voucher.holderId]),
      ],
      conditions: ["card_id = $3"],
      values: [cardId],
    };
    return listPage(deps.db, owner, request);
  };
