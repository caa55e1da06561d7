import type { DescMessage, Message, MessageShape } from "@bufbuild/protobuf";
import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { createEncoders } from "@scrip/contract";
import { toErrorResponse } from "@scrip/errors";
import { type DeliveredEvent, eventMessage } from "@scrip/events";
import { OrderSchema } from "@scrip/proto/scrip/common/v1/order_pb";
import { CustomerDeletedSchema } from "@scrip/proto/scrip/events/v1/customers_pb";
import { OrderPaidSchema } from "@scrip/proto/scrip/events/v1/orders_pb";
import { PointsMovedSchema } from "@scrip/proto/scrip/events/v1/points_pb";
import {
  RedemptionFailedSchema,
  RedemptionMadeSchema,
  RedemptionRolledBackSchema,
} from "@scrip/proto/scrip/events/v1/redemptions_pb";
import {
  GiftBalanceAdjustedSchema,
  VoucherDeletedSchema,
  VoucherPublishedSchema,
} from "@scrip/proto/scrip/events/v1/vouchers_pb";
import { RedemptionSchema } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import { VoucherSchema } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Call } from "@scrip/rpc";

import type { Clients } from "../clients.ts";

/** Topics whose events webhooks receive. */
export const WEBHOOK_TOPICS: readonly string[] = [
  "scrip.redemptions.v1",
  "scrip.vouchers.v1",
  "scrip.customers.v1",
  "scrip.orders.v1",
  "scrip.points.v1",
];

/** An event as webhooks see it. */
export type WebhookEvent = {
  /** Names that it has: one event may be two facts, such as a published voucher and its publication. */
  readonly names: readonly string[];
  readonly date: Date;
  /** Id of the resource that the event is about. */
  readonly entityId: string;
  readonly channel: string;
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

const SOURCES = [
  source({
    schema: RedemptionMadeSchema,
    read: ({ date, redemptionId }, clients) => ({
      ...about(date, redemptionId),
      names: ["redemption.succeeded"],
      loadData: (call) => loadRedemption(clients, redemptionId, call),
    }),
  }),
  source({
    schema: RedemptionFailedSchema,
    read: ({ date, redemptionId }, clients) => ({
      ...about(date, redemptionId),
      names: ["redemption.failed"],
      loadData: (call) => loadRedemption(clients, redemptionId, call),
    }),
  }),
  source({
    schema: RedemptionRolledBackSchema,
    read: ({ date, rollbackId, rejected }, clients) => ({
      ...about(date, rollbackId),
      names: [rejected ? "redemption.rollback.failed" : "redemption.rollback.succeeded"],
      loadData: (call) => loadRedemption(clients, rollbackId, call),
    }),
  }),
  source({
    schema: VoucherPublishedSchema,
    read: ({ date, publicationId, voucherId, customerId, channel }, clients) => ({
      ...about(date, voucherId),
      channel,
      names: ["voucher.published", "publication.succeeded"],
      loadData: async (call) =>
        object({
          publication: JSON.stringify({
            object: "publication",
            id: publicationId,
            customer_id: customerId,
            vouchers_id: [voucherId],
            channel,
            created_at: date && timestampDate(date),
          }),
          voucher: await loadVoucher(clients, voucherId, call),
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
    read: ({ date, voucherId, transactionId, amount, balance, reason, sourceId }, clients) => ({
      ...about(date, voucherId),
      names: [
        ...(amount > 0n ? ["voucher.gift.balance_added"] : []),
        "voucher.gift.transaction.created",
      ],
      loadData: async (call) =>
        object({
          voucher: await loadVoucher(clients, voucherId, call),
          transaction: JSON.stringify({
            id: transactionId,
            source_id: sourceId ?? null,
            reason: reason ?? null,
            type: amount > 0n ? "CREDITS_ADDITION" : "CREDITS_REMOVAL",
            amount: Number(amount),
            balance: Number(balance),
            created_at: date && timestampDate(date),
          }),
        }),
    }),
  }),
  source({
    schema: PointsMovedSchema,
    read: ({ date, cardId, transactionId, type, points, balance, reason, sourceId }, clients) => ({
      ...about(date, cardId),
      names: [
        ...(type === "POINTS_EXPIRATION" ? ["voucher.loyalty_card.points_expired"] : []),
        ...(points > 0n ? ["voucher.loyalty_card.points_added"] : []),
        "voucher.loyalty_card.transaction.created",
      ],
      loadData: async (call) =>
        object({
          voucher: await loadVoucher(clients, cardId, call),
          transaction: JSON.stringify({
            id: transactionId,
            source_id: sourceId ?? null,
            reason: reason ?? null,
            type,
            points: Number(points),
            balance: Number(balance),
            created_at: date && timestampDate(date),
          }),
        }),
    }),
  }),
  source({
    schema: CustomerDeletedSchema,
    read: ({ date, customerId }) => ({
      ...about(date, customerId),
      names: ["customer.deleted"],
      loadData: async () =>
        object({ customer: JSON.stringify({ object: "customer", id: customerId }) }),
    }),
  }),
  source({
    schema: OrderPaidSchema,
    read: ({ date, order }) => ({
      ...about(date, order?.id ?? ""),
      names: ["customer.order.paid"],
      loadData: async () => object({ order: encode(OrderSchema, order as Message) }),
    }),
  }),
];

const BY_TYPE = new Map(SOURCES.map((each) => [each.typeName, each]));

/** The event as webhooks see it; undefined for events that they do not receive. */
export const webhookEventOf = (event: DeliveredEvent, clients: Clients): WebhookEvent | undefined =>
  BY_TYPE.get(event.type ?? "")?.read(event, clients);

const about = (date: Timestamp | undefined, entityId: string) => ({
  date: date === undefined ? new Date() : timestampDate(date),
  entityId,
  channel: "API",
});

const encoderOf = createEncoders();

const encode = (schema: DescMessage, message: Message): string => encoderOf(schema)(message);

const object = (members: Readonly<Record<string, string>>): string =>
  `{${Object.entries(members)
    .map(([name, json]) => `${JSON.stringify(name)}:${json}`)
    .join(",")}}`;

const loadRedemption = async ({ redemptions }: Clients, id: string, call: Call): Promise<string> =>
  object({
    redemption: await orOnlyId({ type: "redemption", id, call }, async () =>
      encode(RedemptionSchema, await redemptions.getRedemption({ redemptionId: id }, call)),
    ),
  });

const loadVoucher = ({ vouchers }: Clients, id: string, call: Call): Promise<string> =>
  orOnlyId({ type: "voucher", id, call }, async () =>
    encode(VoucherSchema, await vouchers.getVoucher({ code: id }, call)),
  );

type Resource = { readonly type: string; readonly id: string; readonly call: Call };

/** A resource that was deleted in the meantime is described by its id. */
async function orOnlyId(
  { type, id, call }: Resource,
  load: () => Promise<string>,
): Promise<string> {
  try {
    return await load();
  } catch (error) {
    if (toErrorResponse(error, call.requestId).error.key !== "not_found") throw error;
    return JSON.stringify({ object: type, id });
  }
}
