import { create, type JsonObject } from "@bufbuild/protobuf";
import { timeRangeConditions } from "@scrip/filters";
import { instantToProto } from "@scrip/mapping";
import {
  type ListMemberPendingPointsRequest,
  type ListPendingPointsRequest,
  type PendingPointsList,
  PendingPointsListSchema,
} from "@scrip/proto/scrip/loyalty/v1/pending_points_pb";

import type { Deps } from "../deps.ts";
import { listPendingPoints, type PendingPoints } from "../store/pending-points.ts";

const DEFAULT_LIMIT = 10n;

/** A page of pending points of a card or of a program. */
export async function pendingPointsPage(
  { db }: Pick<Deps, "db">,
  owner: {
    readonly projectId: string;
    readonly cardId: string | null;
    readonly campaignId: string | null;
  },
  request: Pick<
    ListPendingPointsRequest | ListMemberPendingPointsRequest,
    "limit" | "order" | "startingAfterId" | "createdAt"
  >,
): Promise<PendingPointsList> {
  const values: unknown[] = [owner.projectId, owner.cardId, owner.campaignId];
  const conditions = timeRangeConditions("created_at", request.createdAt, values);
  const limit = Number(request.limit ?? DEFAULT_LIMIT);
  const found = await listPendingPoints(db, {
    ...owner,
    conditions,
    values,
    limit: limit + 1,
    descending: request.order !== "id",
    afterId: request.startingAfterId ?? null,
  });
  const page = found.slice(0, limit);
  const last = page.at(-1);
  const hasMore = found.length > limit;
  return create(PendingPointsListSchema, {
    data: page.map(pendingPointsToProto),
    hasMore,
    ...(hasMore && last !== undefined && { moreStartingAfter: last.id }),
  });
}

const pendingPointsToProto = (entry: PendingPoints) => ({
  id: entry.id,
  voucherId: entry.cardId,
  campaignId: entry.campaignId,
  customerId: entry.customerId,
  ...(entry.orderId !== null && { orderId: entry.orderId }),
  points: entry.points,
  activatesAt: entry.activatesOn,
  details: entry.details as JsonObject,
  createdAt: instantToProto(entry.createdAt),
});
