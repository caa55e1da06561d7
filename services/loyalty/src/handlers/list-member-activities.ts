import { timeRangeConditions } from "@scrip/filters";
import type { ActivityService } from "@scrip/proto/scrip/loyalty/v1/activities_pb";
import type { Handler } from "@scrip/rpc";

import { listPage } from "../activity/list-page.ts";
import type { Deps } from "../deps.ts";
import { NOT_OF_CARDS } from "../domain/activity-types.ts";
import { requireMemberCard } from "../points/require-member-card.ts";

export const listMemberActivities =
  (deps: Deps): Handler<typeof ActivityService.method.listMemberActivities> =>
  async (request, { project }) => {
    const cardId = await requireMemberCard(deps, project.id, request);
    const holderId = request.voucher?.holderId;
    const owners = [cardId, ...(holderId === undefined ? [] : [holderId])];
    const values: unknown[] = [project.id, owners, cardId, NOT_OF_CARDS];
    const conditions = [
      "card_id = $3",
      "type <> all($4::text[])",
      ...timeRangeConditions("created_at", request.createdAt, values),
    ];
    const owner = { projectId: project.id, owners, conditions, values: values.slice(2) };
    return listPage(deps.db, owner, request);
  };
