import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { type DeliveredEvent, eventMessage, originOf } from "@scrip/events";
import type { Order } from "@scrip/proto/scrip/common/v1/order_pb";
import { CustomEventReceivedSchema } from "@scrip/proto/scrip/events/v1/customers_pb";
import { LoyaltyTierChangedSchema } from "@scrip/proto/scrip/events/v1/loyalty_tiers_pb";
import { OrderPaidSchema } from "@scrip/proto/scrip/events/v1/orders_pb";
import {
  PendingPointsChangedSchema,
  type PointsMoved,
  PointsMovedSchema,
} from "@scrip/proto/scrip/events/v1/points_pb";
import {
  RedemptionFailedSchema,
  type RedemptionMade,
  RedemptionMadeSchema,
  RedemptionRolledBackSchema,
  RewardCompletedSchema,
} from "@scrip/proto/scrip/events/v1/redemptions_pb";
import {
  ReferralConvertedSchema,
  ReferralRewardedSchema,
} from "@scrip/proto/scrip/events/v1/referrals_pb";
import { VoucherPublishedSchema } from "@scrip/proto/scrip/events/v1/vouchers_pb";

import { splitData } from "../domain/activity-data.ts";
import type { Activity } from "../store/activities.ts";
import { activityId, type CausalStep } from "./activity-id.ts";

/** An activity without what each event has. */
type Described = Pick<Activity, "type" | "data"> & {
  readonly date: Timestamp | undefined;
  /** Undefined: the customer who holds the card. */
  readonly customerId: string | undefined;
  readonly cardId?: string | undefined;
  /** Types of further activities with the same data, after the first one; at most three. */
  readonly also?: readonly string[];
  /** What the activity follows that has the same time. Default: `cause`. */
  readonly step?: CausalStep;
};

const source = <Desc extends DescMessage>(
  schema: Desc,
  describe: (message: Readonly<MessageShape<Desc>>) => Described,
) => ({
  typeName: schema.typeName,
  describe: (event: DeliveredEvent): Described | undefined => {
    const message = eventMessage(event, schema);
    return message && describe(message);
  },
});

const CARD = "customer.voucher.loyalty_card";
const LOYALTY_PROGRAM = "LOYALTY_PROGRAM";

const SOURCES = [
  source(RedemptionMadeSchema, (event) => ({
    ...customerOf(event, event.points !== undefined),
    type: "customer.redemption.succeeded",
    data: {
      redemption: { id: event.redemptionId },
      ...redeemed(event),
      ...campaign(event.campaignId, campaignTypeOf(event)),
      ...orderOf(event.order),
    },
    ...(event.rewardId !== undefined && {
      also: ["created", event.rewardPending ? "pending" : "completed"].map(
        (change) => `customer.reward_redemptions.${change}`,
      ),
    }),
  })),
  source(RewardCompletedSchema, (event) => ({
    ...customerOf(event, true),
    type: "customer.reward_redemptions.completed",
    data: {
      redemption: { id: event.redemptionId },
      ...redeemed(event),
      ...campaign(event.campaignId, LOYALTY_PROGRAM),
    },
  })),
  source(RedemptionFailedSchema, (event) => ({
    ...customerOf(event, false),
    type: "customer.redemption.failed",
    data: {
      redemption: { id: event.redemptionId },
      ...redeemed(event),
      ...campaign(event.campaignId),
    },
  })),
  source(RedemptionRolledBackSchema, (event) => ({
    ...customerOf(event, event.points !== undefined),
    type: `customer.redemption.rollback.${event.rejected ? "failed" : "succeeded"}`,
    data: {
      rollback: { id: event.rollbackId },
      redemption: { id: event.redemptionId },
      ...redeemed(event),
      ...campaign(event.campaignId, campaignTypeOf(event)),
      ...orderOf(event.order),
    },
    ...(event.rewardId !== undefined &&
      !event.rejected && { also: ["customer.reward_redemptions.rolledback"] }),
  })),
  source(VoucherPublishedSchema, (event) => ({
    date: event.date,
    customerId: event.customerId,
    cardId: event.loyaltyPoints === undefined ? undefined : event.voucherId,
    type: "customer.publication.succeeded",
    also: ["customer.holder.assignment.created"],
    data: {
      publication: { id: event.publicationId, channel: event.channel },
      voucher: voucher(event.voucherId),
      ...campaign(event.campaignId, event.campaignType),
    },
  })),
  source(PointsMovedSchema, (event) => ({
    date: event.date,
    customerId: undefined,
    cardId: event.cardId,
    step: "points",
    type: `${CARD}.${pointsChange(event)}`,
    ...(EARNED.has(event.type) && { also: ["customer.rewarded.loyalty_points"] }),
    data: {
      ...(event.type === "POINTS_EXPIRATION" && expiration(event)),
      transaction: {
        id: event.transactionId,
        type: event.type,
        points: Number(event.points),
        balance: Number(event.balance),
        source_id: event.sourceId ?? null,
        reason: event.reason ?? null,
      },
      voucher: voucher(event.cardId),
      ...campaign(event.campaignId, LOYALTY_PROGRAM),
    },
  })),
  source(PendingPointsChangedSchema, (event) => ({
    date: event.date,
    customerId: event.customerId,
    cardId: event.cardId,
    step: "points",
    type: `${CARD}.pending_points.${event.change.toLowerCase()}`,
    data: {
      pending_points: { id: event.pendingPointsId, points: Number(event.points) },
      voucher: voucher(event.cardId),
      ...campaign(event.campaignId, LOYALTY_PROGRAM),
    },
  })),
  source(LoyaltyTierChangedSchema, (event) => ({
    date: event.date,
    customerId: event.customerId,
    cardId: event.cardId,
    step: "tier",
    type: `customer.loyalty.tier.${event.change}`,
    data: {
      ...(event.tier && { loyalty_tier: { id: event.tier.id, name: event.tier.name } }),
      ...(event.previous && { previous: { id: event.previous.id, name: event.previous.name } }),
      ...(event.expirationDate !== undefined && { expiration_date: event.expirationDate }),
      voucher: voucher(event.cardId),
      ...campaign(event.campaignId, LOYALTY_PROGRAM),
    },
  })),
  source(OrderPaidSchema, ({ date, order }) => ({
    date,
    customerId: order?.customerId ?? "",
    type: "customer.order.paid",
    data: orderOf(order),
  })),
  source(CustomEventReceivedSchema, (event) => ({
    date: event.date,
    customerId: event.customerId,
    type: "customer.custom_event",
    data: { event: { id: event.eventId, type: event.name, metadata: event.metadata ?? {} } },
  })),
  source(ReferralConvertedSchema, (event) => ({
    date: event.date,
    customerId: event.refereeId,
    type: "customer.referred",
    data: {
      referral: { referrer_id: event.referrerId },
      voucher: voucher(event.voucherId),
      ...campaign(event.campaignId, "REFERRAL_PROGRAM"),
    },
  })),
  source(ReferralRewardedSchema, ({ points, credits, ...event }) => ({
    date: event.date,
    customerId: event.customerId,
    cardId: points === undefined ? undefined : event.voucherId,
    type: points === undefined ? "customer.rewarded" : "customer.rewarded.loyalty_points",
    data: {
      reward_payment: {
        ...(credits !== undefined && { credits: Number(credits) }),
        ...(points !== undefined && { points: Number(points) }),
      },
      voucher: voucher(event.voucherId),
      ...campaign(event.referralCampaignId, "REFERRAL_PROGRAM"),
    },
  })),
];

const BY_TYPE = new Map(SOURCES.map((each) => [each.typeName, each]));

/** The activities that an event is; none for events without a customer and of other types. */
export function activitiesOfEvent(event: DeliveredEvent): readonly Activity[] {
  const described = BY_TYPE.get(event.type ?? "")?.describe(event);
  if (described === undefined) return [];
  const { date, customerId = null, cardId = null, data, also = [], step = "cause" } = described;
  if (customerId === "" || (customerId === null && cardId === null)) return [];
  const occurredAt = event.occurredAt.getTime();
  const createdAt = date === undefined ? occurredAt : timestampMs(date);
  const split = splitData(data);
  const groupId = originOf(event)?.requestId ?? event.id;
  return [described.type, ...also].map((type, index) => ({
    projectId: event.projectId,
    customerId,
    id: activityId({ eventId: event.id, createdAt, occurredAt, step, index }),
    type,
    cardId,
    groupId,
    ...split,
    createdAt,
    occurredAt,
  }));
}

/** Redemptions of a card without a customer belong to its holder. */
const customerOf = (
  event: Pick<RedemptionMade, "customerId" | "voucherId" | "date">,
  isCard: boolean,
): Pick<Described, "customerId" | "cardId" | "date"> => ({
  date: event.date,
  customerId: event.customerId,
  cardId: isCard ? event.voucherId : undefined,
});

type Redeemed = Partial<
  Pick<
    RedemptionMade,
    "voucherId" | "promotionTierId" | "points" | "amount" | "referrerId" | "rewardId"
  >
>;

const redeemed = ({ voucherId, promotionTierId, points, amount, rewardId }: Redeemed) => ({
  ...(promotionTierId === undefined
    ? { voucher: voucher(voucherId ?? "") }
    : { promotion_tier: { id: promotionTierId } }),
  ...(points !== undefined && { points: Number(points) }),
  ...(amount !== undefined && { amount: Number(amount) }),
  ...(rewardId !== undefined && { reward: { id: rewardId } }),
});

function campaignTypeOf({ promotionTierId, points, amount, referrerId }: Redeemed): string {
  if (promotionTierId !== undefined) return "PROMOTION";
  if (points !== undefined) return LOYALTY_PROGRAM;
  if (amount !== undefined) return "GIFT_VOUCHERS";
  return referrerId === undefined ? "DISCOUNT_COUPONS" : "REFERRAL_PROGRAM";
}

const voucher = (id: string) => ({ id });

const campaign = (id: string | undefined, type?: string) =>
  id === undefined ? {} : { campaign: { id, ...(type !== undefined && { campaign_type: type }) } };

const orderOf = (order: Order | undefined) =>
  order === undefined
    ? {}
    : {
        order: {
          id: order.id,
          amount: Number(order.amount ?? 0n),
          ...productsOf(order),
        },
      };

function productsOf({ items }: Order) {
  const ids = [...new Set(items.flatMap(({ productId }) => productId ?? []))];
  return ids.length === 0 ? {} : { product_ids: ids };
}

/** Points of earning rules, also those that were pending. */
const EARNED: ReadonlySet<string> = new Set(["POINTS_ACCRUAL", "PENDING_POINTS_ACTIVATION"]);

const expiration = ({ points, buckets }: Pick<PointsMoved, "points" | "buckets">) => ({
  points: Number(-points),
  buckets: buckets.map((bucket) => ({
    id: bucket.id,
    bucket: { total_points: Number(bucket.points) },
    expires_at: bucket.expiresOn,
  })),
});

/** Removed points have no type of their own: they are an addition of a negative number. */
function pointsChange({ type }: { readonly type: string }): string {
  if (type === "POINTS_EXPIRATION") return "points_expired";
  return type.startsWith("POINTS_TRANSFER") ? "points_transferred" : "points_added";
}
