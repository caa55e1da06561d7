import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { PointsMoved } from "@scrip/proto/scrip/events/v1/points_pb";

/** The transaction of a loyalty card as JSON text. */
export const pointsTransaction = (event: Omit<PointsMoved, "$typeName">): string =>
  JSON.stringify({
    id: event.transactionId,
    source_id: event.sourceId ?? null,
    reason: event.reason ?? null,
    type: event.type,
    points: Number(event.points),
    balance: Number(event.balance),
    created_at: event.date && timestampDate(event.date),
  });
