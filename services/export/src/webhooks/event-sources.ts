import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { currentTime } from "@scrip/clock";
import { type DeliveredEvent, eventMessage } from "@scrip/events";
import { type Order, OrderSchema, OrderStatus } from "@scrip/proto/scrip/common/v1/order_pb";
import {
  CampaignChanged_Change,
  CampaignChangedSchema,
  CampaignJobRequestedSchema,
} from "@scrip/proto/scrip/events/v1/campaigns_pb";
import {
  CustomerDeletedSchema,
  type SegmentEntered,
  SegmentEnteredSchema,
  SegmentLeftSchema,
} from "@scrip/proto/scrip/events/v1/customers_pb";
import {
  type EventLoyaltyTier,
  LoyaltyTierChangedSchema,
} from "@scrip/proto/scrip/events/v1/loyalty_tiers_pb";
import { OrderPaidSchema } from "@scrip/proto/scrip/events/v1/orders_pb";
import {
  PendingPointsChangedSchema,
  PointsMovedSchema,
} from "@scrip/proto/scrip/events/v1/points_pb";
import {
  RedemptionFailedSchema,
  RedemptionMadeSchema,
  RedemptionRolledBackSchema,
} from "@scrip/proto/scrip/events/v1/redemptions_pb";
import {
  ReferralConvertedSchema,
  ReferralRewardedSchema,
} from "@scrip/proto/scrip/events/v1/referrals_pb";
import { ResourceChangedSchema } from "@scrip/proto/scrip/events/v1/resources_pb";
import {
  GiftBalanceAdjustedSchema,
  VoucherDeletedSchema,
  VoucherPublishedSchema,
} from "@scrip/proto/scrip/events/v1/vouchers_pb";
import type { Call } from "@scrip/rpc";

import type { Clients } from "../clients.ts";
import {
  expiredBuckets,
  giftTransaction,
  pointsTransaction,
  publication,
} from "./event-members.ts";
import {
  encode,
  loadCampaign,
  loadCustomer,
  loadHeldVoucher,
  loadPublication,
  loadRedemption,
  loadTransaction,
  loadVoucher,
  object,
  idOnlyJson,
} from "./resource-data.ts";

/** Topics whose events webhooks receive. */
export const WEBHOOK_TOPICS: readonly string[] = [
  "scrip.redemptions.v1",
  "scrip.vouchers.v1",
  "scrip.customers.v1",
  "scrip.orders.v1",
  "scrip.points.v1",
  "scrip.campaigns.v1",
  "scrip.referrals.v1",
  "scrip.rules.v1",
  "scrip.products.v1",
  "scrip.programs.v1",
];

/** An event as webhooks see it. */
export type WebhookEvent = {
  /** Names that it has: one event may be two facts, such as a published voucher and its publication. */
  readonly names: readonly string[];
  readonly date: Date;
  /** Id of the resource that the event is about. */
  readonly entityId: string;
  /** The channel of an event without an origin. */
  readonly channel: string;
  /** What caused an event without an origin. Default: the event itself. */
  readonly groupId?: string;
  /** Whether bulk work caused it, whose deliveries may wait. Default: no. */
  readonly isBulk?: boolean;
  /** `data` of the body as JSON text: resources by their type. Loaded only for events that somebody receives. */
  readonly loadData: (call: Call) => Promise<string>;
};

type Source<Desc extends DescMessage> = {
  readonly schema: Desc;
  readonly read: (message: Readonly<MessageShape<Desc>>, clients: Clients) => WebhookEvent;
};

const source = <Desc extends DescMessage>(definition: Source<Desc>) => ({
  typeName: definition.schema.typeName,
  read: (event: DeliveredEvent, clients: Clients): WebhookEvent | undefined => {
    const message = eventMessage(event, definition.schema);
    return message && definition.read(message, clients);
  },
});

const CAMPAIGN_CHANGES: Readonly<Record<CampaignChanged_Change, readonly string[]>> = {
  [CampaignChanged_Change.UNSPECIFIED]: [],
  [CampaignChanged_Change.CREATED]: ["campaign.created"],
  [CampaignChanged_Change.UPDATED]: ["campaign.updated"],
  [CampaignChanged_Change.ENABLED]: ["campaign.enabled"],
  [CampaignChanged_Change.DISABLED]: ["campaign.disabled"],
  [CampaignChanged_Change.DELETED]: ["campaign.deleted"],
  [CampaignChanged_Change.VOUCHERS_GENERATED]: [
    "campaign.vouchers.generation.completed",
    "campaign.vouchers.added",
  ],
  [CampaignChanged_Change.VOUCHERS_GENERATION_FAILED]: ["campaign.vouchers.generation.failed"],
};

/** Transactions by which earning rules reward the holder of a card. */
const EARNED: ReadonlySet<string> = new Set(["POINTS_ACCRUAL", "PENDING_POINTS_ACTIVATION"]);
const PENDING_POINTS = "voucher.loyalty_card.pending_points";

const SOURCES = [
  source({
    schema: ResourceChangedSchema,
    read: ({ date, names, resource, id, data, requestId, channel, bulk }) => ({
      ...about(date, id),
      names,
      isBulk: bulk,
      channel,
      groupId: requestId,
      loadData: async () => object({ [resource]: data }),
    }),
  }),
  source({
    schema: RedemptionMadeSchema,
    read: ({ date, redemptionId }, clients) => ({
      ...about(date, redemptionId),
      names: ["redemption.succeeded"],
      loadData: (call) => redemptionData(clients, redemptionId, call),
    }),
  }),
  source({
    schema: RedemptionMadeSchema,
    read: ({ date, order }) => ({
      ...about(date, order?.id ?? ""),
      names:
        order === undefined
          ? []
          : [`customer.order.${order.updatedAt === undefined ? "created" : "updated"}`],
      loadData: () => orderData(order),
    }),
  }),
  source({
    schema: RedemptionFailedSchema,
    read: ({ date, redemptionId }, clients) => ({
      ...about(date, redemptionId),
      names: ["redemption.failed"],
      loadData: (call) => redemptionData(clients, redemptionId, call),
    }),
  }),
  source({
    schema: RedemptionRolledBackSchema,
    read: ({ date, rollbackId, rejected }, clients) => ({
      ...about(date, rollbackId),
      names: [rejected ? "redemption.rollback.failed" : "redemption.rollback.succeeded"],
      loadData: (call) => redemptionData(clients, rollbackId, call),
    }),
  }),
  source({
    schema: RedemptionRolledBackSchema,
    read: ({ date, rejected, order, orderMode, orderWasCanceled: wasCanceled }) => ({
      ...about(date, order?.id ?? ""),
      names: [
        ...(order === undefined || rejected ? [] : ["customer.order.updated"]),
        ...(order?.status === OrderStatus.CANCELED && orderMode === "WITH_ORDER" && !wasCanceled
          ? ["customer.order.canceled"]
          : []),
      ],
      loadData: () => orderData(order),
    }),
  }),
  source({
    schema: VoucherPublishedSchema,
    read: (event, clients) => ({
      ...about(event.date, event.voucherId),
      channel: event.channel,
      names: ["voucher.published", "publication.succeeded"],
      loadData: async (call) =>
        object({
          publication: await loadPublication(clients, publication(event), call),
          voucher: await loadVoucher(clients, event.voucherId, call),
        }),
    }),
  }),
  source({
    schema: VoucherDeletedSchema,
    read: ({ date, voucherId, code }) => ({
      ...about(date, voucherId),
      names: ["voucher.deleted"],
      loadData: async () =>
        object({ voucher: JSON.stringify({ object: "voucher", id: voucherId, code }) }),
    }),
  }),
  source({
    schema: GiftBalanceAdjustedSchema,
    read: (event, clients) => ({
      ...about(event.date, event.voucherId),
      names: [
        ...(event.amount > 0n ? ["voucher.gift.balance_added"] : []),
        "voucher.gift.transaction.created",
      ],
      loadData: async (call) =>
        object({
          voucher: await loadVoucher(clients, event.voucherId, call),
          transaction: await loadTransaction(clients, giftTransaction(event), call),
        }),
    }),
  }),
  source({
    schema: PointsMovedSchema,
    read: (event, clients) => ({
      ...about(event.date, event.cardId),
      names: [
        ...(event.points > 0n ? ["voucher.loyalty_card.points_added"] : []),
        "voucher.loyalty_card.transaction.created",
      ],
      loadData: async (call) =>
        object({
          voucher: await loadVoucher(clients, event.cardId, call),
          transaction: await loadTransaction(clients, pointsTransaction(event), call),
        }),
    }),
  }),
  source({
    schema: PointsMovedSchema,
    read: (event, clients) => ({
      ...about(event.date, event.cardId),
      names: event.type === "POINTS_EXPIRATION" ? ["voucher.loyalty_card.points_expired"] : [],
      loadData: async (call) =>
        object({
          voucher: await loadVoucher(clients, event.cardId, call),
          points: String(-event.points),
          buckets: expiredBuckets(event),
          transaction: await loadTransaction(clients, pointsTransaction(event), call),
        }),
    }),
  }),
  source({
    schema: PointsMovedSchema,
    read: (event, clients) => ({
      ...about(event.date, event.cardId),
      names: EARNED.has(event.type) ? ["customer.rewarded.loyalty_points"] : [],
      loadData: async (call) =>
        object({
          ...(await loadHeldVoucher(clients, event.cardId, call)),
          transaction: await loadTransaction(clients, pointsTransaction(event), call),
        }),
    }),
  }),
  source({
    schema: PendingPointsChangedSchema,
    read: ({ date, cardId, pendingPointsId, campaignId, change, points }, clients) => ({
      ...about(date, pendingPointsId),
      names: [`${PENDING_POINTS}.${change.toLowerCase()}`],
      loadData: async (call) =>
        object({
          voucher: await loadVoucher(clients, cardId, call),
          pending_points: JSON.stringify({
            id: pendingPointsId,
            voucher_id: cardId,
            campaign_id: campaignId,
            points: Number(points),
          }),
        }),
    }),
  }),
  source({
    schema: CampaignChangedSchema,
    read: ({ date, campaignId, change, jobId }, clients) => ({
      ...about(date, campaignId),
      names: CAMPAIGN_CHANGES[change] ?? [],
      loadData: (call) =>
        change === CampaignChanged_Change.DELETED
          ? Promise.resolve(object({ campaign: idOnlyJson("campaign", campaignId) }))
          : campaignData(clients, { campaignId, jobId }, call),
    }),
  }),
  source({
    schema: CampaignJobRequestedSchema,
    read: ({ date, campaignId, jobId, type, requestId }, clients) => ({
      ...about(date, campaignId),
      names: type === "CAMPAIGN.VOUCHERS_GENERATE" ? ["campaign.vouchers.generation.started"] : [],
      groupId: requestId,
      loadData: (call) => campaignData(clients, { campaignId, jobId }, call),
    }),
  }),
  source({
    schema: ReferralConvertedSchema,
    read: ({ date, refereeId, referrerId, voucherId, campaignId }, clients) => ({
      ...about(date, refereeId),
      names: ["customer.referred"],
      loadData: async (call) =>
        object({
          customer: await loadCustomer(clients, refereeId, call),
          referral: JSON.stringify({
            referrer_id: referrerId,
            voucher_id: voucherId,
            campaign_id: campaignId,
          }),
        }),
    }),
  }),
  source({
    schema: ReferralRewardedSchema,
    read: ({ date, customerId, voucherId, referralCampaignId, credits, points }, clients) => ({
      ...about(date, customerId),
      names: [
        "customer.rewarded",
        ...(points === undefined ? [] : ["customer.rewarded.loyalty_points"]),
      ],
      loadData: async (call) =>
        object({
          customer: await loadCustomer(clients, customerId, call),
          voucher: await loadVoucher(clients, voucherId, call),
          reward: JSON.stringify({
            campaign_id: referralCampaignId,
            ...(credits !== undefined && { credits: Number(credits) }),
            ...(points !== undefined && { points: Number(points) }),
          }),
        }),
    }),
  }),
  source({
    schema: LoyaltyTierChangedSchema,
    read: ({ date, customerId, cardId, campaignId, change, ...event }, clients) => ({
      ...about(date, customerId),
      names: [`customer.loyalty.tier.${change}`],
      loadData: async (call) =>
        object({
          customer: await loadCustomer(clients, customerId, call),
          tier: JSON.stringify({
            card_id: cardId,
            campaign_id: campaignId,
            current: tierOf(event.tier),
            previous: tierOf(event.previous),
            expiration_date: event.expirationDate ?? null,
          }),
        }),
    }),
  }),
  source({ schema: SegmentEnteredSchema, read: membership("customer.segment.entered") }),
  source({ schema: SegmentLeftSchema, read: membership("customer.segment.left") }),
  source({
    schema: CustomerDeletedSchema,
    read: ({ date, customerId }) => ({
      ...about(date, customerId),
      names: ["customer.deleted"],
      loadData: async () => object({ customer: idOnlyJson("customer", customerId) }),
    }),
  }),
  source({
    schema: OrderPaidSchema,
    read: ({ date, order }) => ({
      ...about(date, order?.id ?? ""),
      names: ["customer.order.paid"],
      loadData: () => orderData(order),
    }),
  }),
];

const BY_TYPE = Map.groupBy(SOURCES, ({ typeName }) => typeName);

/** The event as webhooks see it: a redemption is also a change of its order. Names differ. */
export const webhookEventsOf = (event: DeliveredEvent, clients: Clients): readonly WebhookEvent[] =>
  BY_TYPE.get(event.type ?? "")?.flatMap(({ read }) => read(event, clients) ?? []) ?? [];

/** A customer entered or left a segment. */
function membership(name: string) {
  return (event: Omit<SegmentEntered, "$typeName">, clients: Clients): WebhookEvent => ({
    ...about(event.date, event.customerId),
    names: [name],
    loadData: async (call) =>
      object({
        customer: await loadCustomer(clients, event.customerId, call),
        segment: JSON.stringify({
          object: "segment",
          id: event.segmentId,
          name: event.segmentName,
        }),
      }),
  });
}

const dateOf = (date: Timestamp | undefined): Date | undefined => date && timestampDate(date);

const tierOf = (tier: EventLoyaltyTier | undefined) =>
  tier === undefined ? null : { object: "loyalty_tier", id: tier.id, name: tier.name };

const about = (date: Timestamp | undefined, entityId: string) => ({
  date: dateOf(date) ?? new Date(currentTime()),
  entityId,
  channel: "API",
});

const orderData = (order: Order | undefined): Promise<string> =>
  Promise.resolve(object(order === undefined ? {} : { order: encode(OrderSchema, order) }));

const redemptionData = async (clients: Clients, id: string, call: Call): Promise<string> =>
  object({ redemption: await loadRedemption(clients, id, call) });

const campaignData = async (
  clients: Clients,
  { campaignId, jobId }: { readonly campaignId: string; readonly jobId?: string | undefined },
  call: Call,
): Promise<string> =>
  object({
    campaign: await loadCampaign(clients, campaignId, call),
    ...(jobId !== undefined && { async_action: JSON.stringify({ id: jobId }) }),
  });
