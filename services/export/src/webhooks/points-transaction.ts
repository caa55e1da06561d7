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

/** The buckets of an expiration as JSON text. */
export const expiredBuckets = ({
  cardId,
  campaignId,
  buckets,
}: Pick<PointsMoved, "cardId" | "campaignId" | "buckets">): string =>
  JSON.stringify(
    buckets.map(({ id, points, expiresOn }) => ({
      id,
      voucher_id: cardId,
      campaign_id: campaignId ?? null,
      bucket: { total_points: Number(points) },
      status: "EXPIRED",
      expires_at: expiresOn,
      object: "loyalty_points_bucket",
    })),
  );
