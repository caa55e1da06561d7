import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { OutboxEvent } from "@scrip/events";
import { PointsMovedSchema } from "@scrip/proto/scrip/events/v1/points_pb";

import type { NewLedgerEntry } from "../domain/card.ts";
import { POINTS_TOPIC } from "./topics.ts";

/** The event of an entry that is neither a redemption nor a refund. */
export const pointsMovedEvent = (id: string, entry: NewLedgerEntry): OutboxEvent => ({
  projectId: entry.projectId,
  id,
  topic: POINTS_TOPIC,
  type: PointsMovedSchema.typeName,
  key: entry.cardId,
  entityVersion: entry.version,
  payload: toBinary(
    PointsMovedSchema,
    create(PointsMovedSchema, {
      projectId: entry.projectId,
      cardId: entry.cardId,
      ...(entry.campaignId !== null && { campaignId: entry.campaignId }),
      transactionId: entry.id,
      type: entry.type,
      points: entry.points,
      balance: entry.balanceAfter,
      total: entry.totalAfter,
      ...(entry.relatedId !== null && { relatedTransactionId: entry.relatedId }),
      ...(entry.sourceId !== null && { sourceId: entry.sourceId }),
      ...(entry.reason !== null && { reason: entry.reason }),
      date: timestampFromMs(entry.at),
      version: entry.version,
      buckets: [...(entry.expiredLots ?? [])],
    }),
  ),
});
