import { instantToProto } from "@scrip/mapping";
import type { Order } from "@scrip/proto/scrip/common/v1/order_pb";
import type { StoredCustomer } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import type {
  RedemptionCommand,
  RedemptionPart,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { Call } from "@scrip/rpc";
import { exportedTraceparent } from "@scrip/telemetry";

import type { Deps } from "../deps.ts";
import type { ApplicableRedeemable, EvaluatedRedeemable } from "../domain/decision/decision.ts";
import type { OrderFigures } from "../domain/order/order-figures.ts";
import type { Rejection } from "../domain/rejections/rejection.ts";
import { limitedScope } from "../mapping/applicable-to.ts";
import { countGuardToProto } from "../mapping/count.ts";
import { customerToProto } from "../mapping/customer.ts";
import type { DecisionContext } from "../mapping/decision-context.ts";
import { rejectionToProto } from "../mapping/error.ts";
import { explanationToProto } from "../mapping/explanation.ts";
import { orderToProto } from "../mapping/order.ts";
import { callerToProto } from "../mapping/origin.ts";
import { tierSummaryToProto } from "../mapping/promotion-tier.ts";
import { redeemedOrder } from "../mapping/redeemed-order.ts";
import type { OrderClaim } from "../order/order-claim.ts";
import { type Decided, applicableOf } from "../validation/decide.ts";
import type { PointsByCard } from "./commit-with-points-held.ts";

/** What a command is built from, besides the decision. */
export type CommandSource = {
  readonly deps: Deps;
  readonly call: Call;
  readonly context: DecisionContext;
  readonly order: OrderClaim | undefined;
  readonly tracking: string | undefined;
  readonly points?: PointsByCard;
};

/** One part per applicable redeemable, and the order after all of them. */
export function buildRedemptionCommand(
  source: CommandSource,
  decision: Decided,
  {
    customer,
    replayData,
  }: { readonly customer: StoredCustomer | undefined; readonly replayData: Uint8Array },
): RedemptionCommand {
  const applicable = applicableOf(decision);
  const orderOf = orderBuilder(source, applicable, customer);
  const isStacked = applicable.length > 1;
  const order = orderOf(decision.order);
  return {
    ...commandBase(source, customer),
    replayData,
    parts: applicable.map((evaluated) => ({
      ...partOf(evaluated, source, customer),
      // A single redeemable leaves the order as the whole request does.
      ...(isStacked && evaluated.order !== null && { order: orderOf(evaluated.order) }),
    })),
    ...(order !== undefined && { order }),
  };
}

/** A failed redemption stores only itself and its reason: no order, no customer. */
export function buildRejectionCommand(
  source: CommandSource,
  evaluated: EvaluatedRedeemable,
  rejection: Rejection,
): RedemptionCommand {
  const explanation = explanationToProto(evaluated, "server");
  return {
    ...commandBase(source, source.context.customer),
    parts: [
      {
        ...redeemableOf(evaluated, source),
        ...NOTHING_TAKEN,
        ...(explanation !== undefined && { explanation }),
      },
    ],
    rejection: rejectionToProto(rejection, source.call.requestId),
  };
}

/** All orders of one redemption share the ids of their lines. */
function orderBuilder(
  { deps, call, context, order }: CommandSource,
  applicable: readonly ApplicableRedeemable[],
  customer: StoredCustomer | undefined,
): (figures: OrderFigures | null) => Order | undefined {
  const { order: orderInput } = context.input;
  const itemIds = new Map<number, string>();
  const newItemId = (position: number): string => {
    const id = itemIds.get(position) ?? deps.newId("ordli");
    itemIds.set(position, id);
    return id;
  };
  const referrerId = referrerOf(applicable) ?? orderInput?.referrer?.id ?? orderInput?.referrerId;
  return (figures) => {
    if (figures === null || orderInput === undefined || order === undefined) return undefined;
    return redeemedOrder(orderToProto(figures, orderInput, order.stored), {
      id: order.id,
      stored: order.stored,
      customerId: customer?.id,
      referrerId,
      now: call.now,
      newItemId,
    });
  };
}

/** The holder of the redeemed referral code. */
const referrerOf = (applicable: readonly ApplicableRedeemable[]): string | undefined =>
  applicable
    .flatMap(({ redeemable }) =>
      redeemable.object === "voucher" && redeemable.voucher?.isReferralCode === true
        ? (redeemable.voucher.holderId ?? [])
        : [],
    )
    .at(0);

function partOf(
  evaluated: ApplicableRedeemable,
  source: CommandSource,
  customer: StoredCustomer | undefined,
): RedemptionPart {
  const { requestId } = source.call;
  const { redeemable, benefit, order, units, guards } = evaluated;
  const snapshot = redeemable.object === "voucher" ? redeemable.voucher : redeemable.tier;
  const explanation = explanationToProto(evaluated, "server");
  const points = snapshot === null ? undefined : source.points?.get(snapshot.id);
  const scope = redeemable.object === "voucher" ? limitedScope(evaluated) : undefined;
  return {
    ...redeemableOf(evaluated, source),
    ...NOTHING_TAKEN,
    credits: benefit.kind === "gift" ? benefit.credits : 0n,
    ...(snapshot !== null && snapshot.campaign !== null && { campaignId: snapshot.campaign.id }),
    ...(order !== null && {
      orderAmount: order.amount,
      discountedAmount: order.totalAppliedDiscountAmount,
    }),
    units: units.map((unit) => ({ $typeName: "scrip.voucher.v1.DiscountedUnits", ...unit })),
    guards: guards.map((guard) =>
      countGuardToProto(guard, { requestId, customerId: customer?.id }),
    ),
    ...(explanation !== undefined && { explanation }),
    ...(points !== undefined && { points }),
    ...(scope !== undefined && { scope }),
  };
}

const NOTHING_TAKEN = {
  $typeName: "scrip.voucher.v1.RedemptionPart",
  credits: 0n,
  orderAmount: 0n,
  discountedAmount: 0n,
  units: [],
  guards: [],
} satisfies Partial<RedemptionPart>;

function redeemableOf(
  { redeemable }: EvaluatedRedeemable,
  { context }: CommandSource,
): Pick<RedemptionPart, "redeemable" | "definitionVersion"> {
  if (redeemable.object === "voucher") {
    if (redeemable.voucher === null) throw new Error("an unknown voucher cannot be redeemed");
    const { id, definitionVersion } = redeemable.voucher;
    return { redeemable: { case: "voucherId", value: id }, definitionVersion };
  }
  const tier = context.promotions.tiers.get(redeemable.id);
  if (tier === undefined) throw new Error("an unknown promotion tier cannot be redeemed");
  const summary = tierSummaryToProto(tier, context.promotions);
  return { redeemable: { case: "promotionTier", value: summary }, definitionVersion: 0n };
}

function commandBase(
  { call, context, tracking }: CommandSource,
  customer: StoredCustomer | undefined,
): Omit<RedemptionCommand, "parts"> {
  const { metadata, session } = context.input;
  const traceparent = exportedTraceparent();
  return {
    $typeName: "scrip.voucher.v1.RedemptionCommand",
    projectId: call.project.id,
    requestId: call.requestId,
    now: instantToProto(call.now),
    replayData: new Uint8Array(),
    overrides: [],
    channel: {
      $typeName: "scrip.voucher.v1.Channel",
      channelId: call.caller.id,
      channelType: "API",
    },
    ...(call.idempotency !== undefined && {
      idempotency: { $typeName: "scrip.voucher.v1.IdempotencyKey", ...call.idempotency },
    }),
    ...(customer !== undefined && { customerId: customer.id, customer: customerToProto(customer) }),
    ...(context.stacking.redeemablesApplicationMode === "PARTIAL" && { partial: true }),
    ...(tracking !== undefined && { trackingId: tracking }),
    ...(metadata !== undefined && { metadata }),
    ...(session?.key !== undefined && { sessionKey: session.key }),
    ...(traceparent !== undefined && { traceparent }),
    ...callerToProto(call),
  };
}
