import { create, type DescMessage, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { toErrorResponse } from "@scrip/errors";
import type { DeliveredEvent, EventHandler } from "@scrip/events";
import { newId, newRequestId } from "@scrip/ids";
import {
  CampaignType,
  type CreateCampaignRequestSchema,
} from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import type { CreatePromotionTierRequestSchema } from "@scrip/proto/scrip/campaign/v1/promotions_pb";
import { DiscountType } from "@scrip/proto/scrip/common/v1/discount_pb";
import type { Call } from "@scrip/rpc";

import type { Campaigns } from "./deps.ts";

export const NOON = Date.parse("2026-11-21T12:00:00Z");

export type Init<Schema extends DescMessage> = Exclude<
  MessageInitShape<Schema>,
  { $typeName: string }
>;

/** A server-side call in a new project at noon. */
export const newCall = (overrides: Partial<Call> = {}): Call => ({
  project: { id: newId("proj"), timeZone: "UTC", caseSensitiveCodes: true },
  requestId: newRequestId(),
  deadline: Date.now() + 60_000,
  now: NOON,
  caller: { side: "server", id: "app_test" },
  ...overrides,
});

export const TEN_PERCENT = { type: DiscountType.PERCENT, percentOff: "10" };

let names = 0;
const newName = (): string => `name ${(names += 1)}`;

type CampaignRequest = Partial<Init<typeof CreateCampaignRequestSchema>>;

/** A DISCOUNT_COUPONS campaign without codes unless the request says otherwise. */
export const newCoupons = ({ campaigns }: Campaigns, call: Call, request: CampaignRequest = {}) =>
  campaigns.createCampaign(
    { name: newName(), voucher: { discount: TEN_PERCENT }, ...request },
    call,
  );

export const newPromotion = ({ campaigns }: Campaigns, call: Call, request: CampaignRequest = {}) =>
  campaigns.createCampaign(
    { name: newName(), campaignType: CampaignType.PROMOTION, ...request },
    call,
  );

export const newTier = (
  { promotions }: Campaigns,
  call: Call,
  request: Partial<Init<typeof CreatePromotionTierRequestSchema>> & { readonly campaignId: string },
) =>
  promotions.createPromotionTier(
    { name: newName(), action: { discount: TEN_PERCENT }, ...request },
    call,
  );

export const newStack = (
  { promotions }: Campaigns,
  call: Call,
  { campaignId, ids }: { readonly campaignId: string; readonly ids: string[] },
) => promotions.createPromotionStack({ campaignId, name: newName(), tiers: { ids } }, call);

export const idsOf = (items: readonly { readonly id: string }[]): string[] =>
  items.map(({ id }) => id).toSorted();

/** An event as the bus delivers it. */
export const newEvent = <Schema extends DescMessage>(
  schema: Schema,
  {
    projectId,
    topic,
    key = "any",
  }: { readonly projectId: string; readonly topic: string; readonly key?: string },
  payload: MessageInitShape<Schema>,
): DeliveredEvent => ({
  id: newId("event"),
  topic,
  key,
  projectId,
  type: schema.typeName,
  payload: toBinary(schema, create(schema, payload)),
  headers: {},
  occurredAt: new Date(NOON),
  partition: 0,
  offset: 0n,
});

export const deliver = (handler: EventHandler, events: readonly DeliveredEvent[]): Promise<void> =>
  handler(events, {
    group: "campaign",
    topic: events[0]?.topic ?? "",
    signal: new AbortController().signal,
  });

/** The error key of a rejected request, whichever service rejected it. */
export const rejectionKey = (attempt: Promise<unknown>): Promise<string> =>
  attempt.then(
    () => "not rejected",
    (error: unknown) => toErrorResponse(error, "").error.key,
  );
