import { create, type JsonObject } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ProjectQueryable } from "@scrip/postgres";
import { type ActivityList, ActivityListSchema } from "@scrip/proto/scrip/loyalty/v1/activities_pb";

import { joinData } from "../domain/activity-data.ts";
import { categoryOf } from "../domain/activity-types.ts";
import { type ActivityListing, listActivities } from "../store/activities.ts";

const DEFAULT_LIMIT = 10n;

export type ActivityPage = {
  readonly limit?: bigint | undefined;
  readonly order?: string | undefined;
  readonly startingAfterId?: string | undefined;
};

/** A page of activities of a customer. */
export async function listPage(
  db: ProjectQueryable,
  owner: Pick<ActivityListing, "projectId" | "owners" | "conditions" | "values">,
  { limit = DEFAULT_LIMIT, order, startingAfterId }: ActivityPage,
): Promise<ActivityList> {
  const size = Number(limit);
  const found = await listActivities(db, {
    ...owner,
    afterId: startingAfterId,
    descending: order !== "created_at",
    limit: size + 1,
  });
  const page = found.slice(0, size);
  const last = page.at(-1);
  const hasMore = found.length > size;
  return create(ActivityListSchema, {
    data: page.map(({ id, type, createdAt, groupId, ...stored }) => ({
      id,
      type,
      data: joinData(stored) as JsonObject,
      createdAt: timestampFromDate(createdAt),
      groupId,
      category: categoryOf(type),
    })),
    hasMore,
    ...(hasMore && last !== undefined && { moreStartingAfter: last.id }),
  });
}
