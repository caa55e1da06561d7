import { create } from "@bufbuild/protobuf";
import { ApiError, invalidPayload, notFound } from "@scrip/errors";
import { instantToProto, validityFromProto } from "@scrip/mapping";
import type { CampaignDefinition } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import type { Customer } from "@scrip/proto/scrip/common/v1/customer_pb";
import type { Order, OrderInput } from "@scrip/proto/scrip/common/v1/order_pb";
import type { CustomerResult } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import { CreateOrderRequestSchema } from "@scrip/proto/scrip/validation/v1/orders_pb";
import {
  PointsEstimationSchema,
  type QualificationService,
} from "@scrip/proto/scrip/validation/v1/qualifications_pb";
import type { Voucher } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { type Call, type Handler, timeContextOf } from "@scrip/rpc";
import { evaluateValidity, isWithinDates } from "@scrip/rules";

import type { Deps } from "../deps.ts";
import { loadAllCollectionsOfLines } from "../loading/collections.ts";
import { requireIdentity } from "../loading/customer.ts";
import { loadOrder, loadOrderWithCatalogueData } from "../loading/order.ts";
import { withItemCollections } from "../mapping/redeemed-order.ts";
import { updatedOrder } from "../order/edit-order.ts";

/** The program, the order and the card are checked here; loyalty has the earning rules (docs/earning.md#estimation). */
export const estimatePoints =
  (deps: Deps): Handler<typeof QualificationService.method.estimatePoints> =>
  async ({ campaignId, customer: sent, order: sentOrder }, call) => {
    if (sent === undefined) throw invalidPayload("Property .customer must be object");
    if (sentOrder === undefined) throw invalidPayload("Property .order must be object");
    requireIdentity(sent, ".customer");
    const [campaign, order, { customer, segmentIds, unreadableSegmentIds, loyaltyTierIds }] =
      await Promise.all([
        requireActiveCampaign(deps, call, campaignId),
        calculateOrder(deps, call, sentOrder),
        resolveCustomer(deps, call, sent),
      ]);
    const card = await requireMembership(deps, call, { campaign, customerId: customer?.id });
    const { points } = await deps.clients.estimateEarnings(
      {
        campaignId,
        order,
        customerMetadata: { ...customer?.metadata, ...sent.metadata },
        segmentIds,
        unreadableSegmentIds,
        loyaltyTierIds,
        ...(card !== undefined && { cardId: card.id }),
      },
      call,
    );
    return create(PointsEstimationSchema, {
      campaign: { id: campaign.id, name: campaign.name },
      pointsEstimation: points,
    });
  };

async function requireActiveCampaign(
  { clients }: Deps,
  call: Call,
  id: string,
): Promise<CampaignDefinition> {
  const query = { projectId: call.project.id, campaignIds: [id] };
  const [campaign] = (await clients.resolveCampaigns(query, call)).campaigns;
  if (campaign === undefined) throw notFound("campaign", id);
  const validity = evaluateValidity(validityFromProto(campaign), null, timeContextOf(call));
  if (!campaign.active || validity !== "open") {
    const message = `Loyalty campaign '${id}' is not active`;
    throw new ApiError("campaign_not_active", { message });
  }
  return campaign;
}

/** The stored order with the sent fields on top, or the sent order, as if it were stored. */
async function calculateOrder(deps: Deps, call: Call, input: OrderInput): Promise<Order> {
  const {
    sent = input,
    stored,
    lines,
  } = await loadOrderWithCatalogueData(deps, call, input, {
    find: (named) => loadOrder(deps, call, named),
  });
  const { items, amount, discountAmount, metadata, sourceId } = sent;
  // A discount alone describes no order.
  const isReference = items.length === 0 && amount === undefined && metadata === undefined;
  if (stored === null && isReference && sourceId !== undefined) throw notFound("order", sourceId);
  const request = create(CreateOrderRequestSchema, {
    items,
    ...(amount !== undefined && { amount }),
    ...(discountAmount !== undefined && { discountAmount }),
    ...(metadata !== undefined && { metadata }),
  });
  const collections = await loadAllCollectionsOfLines(deps, call, lines);
  return withItemCollections(updatedOrder(request, stored, ".order"), collections);
}

/** Finds the customer with their segments, without writing; an unknown id is rejected. */
async function resolveCustomer(
  { clients }: Deps,
  call: Call,
  customer: Customer,
): Promise<CustomerResult> {
  const { project, now } = call;
  const { timeZone, firstWeekday } = project;
  const result = await clients.resolveCustomer(
    {
      projectId: project.id,
      customer,
      upsert: false,
      now: instantToProto(now),
      withSegments: true,
      timeZone,
      ...(firstWeekday !== undefined && { firstWeekday }),
    },
    call,
  );
  if (result.customer === undefined && customer.id !== undefined) {
    throw notFound("customer", customer.id);
  }
  return result;
}

/** An active card, or none in a program that customers join automatically. */
async function requireMembership(
  { clients }: Deps,
  call: Call,
  {
    campaign: { id: campaignId, autoJoin },
    customerId: customer,
  }: { readonly campaign: CampaignDefinition; readonly customerId: string | undefined },
): Promise<Voucher | undefined> {
  // The active one first, should there be several.
  const request = { campaignId, order: "-active", limit: 1n };
  const [card] =
    customer === undefined
      ? []
      : (await clients.listVouchers({ ...request, customer }, call)).vouchers;
  if (card === undefined && !autoJoin) throw new ApiError("campaign_not_allow_auto_join");
  if (card !== undefined && !isUsable(card, call.now)) {
    const message = `Customer's loyalty card '${card.code}' is not active`;
    throw new ApiError("loyalty_card_not_active", { message });
  }
  return card;
}

const isUsable = (card: Voucher, now: number): boolean =>
  card.active !== false && isWithinDates(validityFromProto(card), now);
