import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { OutboxEvent } from "@scrip/events";
import { PendingPointsChangedSchema } from "@scrip/proto/scrip/events/v1/points_pb";

import type { PendingPoints } from "../store/pending-points.ts";
import { POINTS_TOPIC } from "./topics.ts";

export type PendingPointsChange = {
  /** The entry after the change. */
  readonly entry: PendingPoints;
  readonly change: "ADDED" | "UPDATED" | "ACTIVATED" | "CANCELED";
  /** The change of the pending points of the card; negative when points were removed. */
  readonly points: bigint;
  readonly at: number;
};

/** The event of pending points that were granted, adjusted, activated or canceled. */
export const pendingPointsChangedEvent = (
  id: string,
  { entry, change, points, at }: PendingPointsChange,
): OutboxEvent => ({
  projectId: entry.projectId,
  id,
  topic: POINTS_TOPIC,
  type: PendingPointsChangedSchema.typeName,
  key: entry.cardId,
  payload: toBinary(
    PendingPointsChangedSchema,
    create(PendingPointsChangedSchema, {
      projectId: entry.projectId,
      pendingPointsId: entry.id,
      cardId: entry.cardId,
      campaignId: entry.campaignId,
      customerId: entry.customerId,
      change,
      points,
      date: timestampFromMs(at),
    }),
  ),
});
