import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { PointsMoved } from "@scrip/proto/scrip/events/v1/points_pb";
import type {
  GiftBalanceAdjusted,
  VoucherPublished,
} from "@scrip/proto/scrip/events/v1/vouchers_pb";

import type { EventResource } from "./resource-data.ts";

/** What an event has of a publication. */
export const publication = (event: Omit<VoucherPublished, "$typeName">): EventResource => {
  const date = event.date && timestampDate(event.date);
  return {
    id: event.publicationId,
    voucherId: event.voucherId,
    date,
    members: {
      object: "publication",
      id: event.publicationId,
      customer_id: event.customerId,
      vouchers_id: [event.voucherId],
      channel: event.channel,
      created_at: date,
    },
  };
};

/** What an event has of a transaction of a loyalty card. */
export const pointsTransaction = (event: Omit<PointsMoved, "$typeName">): EventResource =>
  transaction(event, event.cardId, {
    type: event.type,
    points: Number(event.points),
    balance: Number(event.balance),
  });

/** What an event has of a transaction of a gift card. */
export const giftTransaction = (event: Omit<GiftBalanceAdjusted, "$typeName">): EventResource =>
  transaction(event, event.voucherId, {
    type: event.amount > 0n ? "CREDITS_ADDITION" : "CREDITS_REMOVAL",
    amount: Number(event.amount),
    balance: Number(event.balance),
  });

type TransactionEvent = Pick<PointsMoved, "transactionId" | "sourceId" | "reason" | "date">;

function transaction(
  event: TransactionEvent,
  voucherId: string,
  movement: EventResource["members"],
): EventResource {
  const { transactionId: id, sourceId = null, reason = null } = event;
  const date = event.date && timestampDate(event.date);
  const members = { id, source_id: sourceId, reason, ...movement, created_at: date };
  return { id, voucherId, date, members };
}

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
