import { toBinary } from "@bufbuild/protobuf";
import { CustomerSchema } from "@scrip/proto/scrip/common/v1/customer_pb";
import { ExplanationSchema } from "@scrip/proto/scrip/common/v1/explanation_pb";
import { PromotionTierSummarySchema } from "@scrip/proto/scrip/common/v1/promotion_tier_pb";
import { RedemptionScopeSchema } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";

import type { ProductUnits } from "../domain/counts.ts";
import type { VoucherUsage } from "../domain/usage.ts";
import { pointsFromProto } from "../mapping/points.ts";
import type { NewRedemption } from "../store/commit-statement.ts";
import { pointsToJson } from "../store/points-json.ts";
import type { OrderWithRedemption } from "./build-orders.ts";
import { type Command, promotionTierOf } from "./parse-command.ts";

/** The outcome of a part, or of a whole stack. */
export type RowOutcome = {
  readonly id: string;
  readonly parentId: string | null;
  /** Credits taken from a gift voucher; null for anything else. */
  readonly amount: bigint | null;
  readonly order: OrderWithRedemption | null;
  readonly after: VoucherUsage | null;
  readonly failure: NewRedemption["failure"];
};

/**
 * The row of a part, or of the parent redemption when `part` is null. One literal instead of spreads: this
 * runs for each redemption.
 */
export function redemptionToRow(
  command: Command,
  part: number | null,
  result: RowOutcome,
): NewRedemption {
  const { message } = command;
  const { order } = result;
  const one = part === null ? undefined : command.parts[part];
  const sent = part === null ? undefined : message.parts[part];
  const tier = sent && promotionTierOf(sent);
  const counted = result.failure === null ? one : undefined;
  return {
    projectId: command.projectId,
    id: result.id,
    parentId: result.parentId,
    voucherId: one?.voucherId ?? null,
    tierId: one?.tierId ?? null,
    campaignId: one?.campaignId ?? null,
    createdAt: command.at,
    status: result.failure === null ? "SUCCEEDED" : "FAILED",
    amount: result.amount,
    customerId: message.customerId ?? null,
    trackingId: message.trackingId ?? null,
    metadata: message.metadata === undefined ? null : JSON.stringify(message.metadata),
    channelId: message.channel?.channelId ?? "",
    channelType: message.channel?.channelType ?? "API",
    order: order?.bytes ?? null,
    customer: message.customer === undefined ? null : toBinary(CustomerSchema, message.customer),
    after: result.after,
    failure: result.failure,
    requestId: message.requestId,
    sessionKey: message.sessionKey ?? null,
    orderAmount:
      order === null
        ? zeroToNull(counted?.orderAmount)
        : (counted?.orderAmount ?? order.message.amount),
    discountedAmount: zeroToNull(counted?.discountedAmount),
    points: result.failure === null ? pointsToJson(pointsFromProto(sent?.points)) : null,
    units: unitsJson(counted?.units),
    tier: tier === undefined ? null : toBinary(PromotionTierSummarySchema, tier),
    explanation:
      sent?.explanation === undefined ? null : toBinary(ExplanationSchema, sent.explanation),
    scope:
      result.failure !== null || sent?.scope === undefined
        ? null
        : toBinary(RedemptionScopeSchema, sent.scope),
  };
}

/** Zero is stored as NULL. */
const zeroToNull = (amount: bigint | undefined): bigint | null =>
  amount === undefined || amount === 0n ? null : amount;

function unitsJson(units: readonly ProductUnits[] | undefined): string | null {
  if (units === undefined || units.length === 0) return null;
  const byProduct = units.map(({ productId, quantity }) => [productId, Number(quantity)] as const);
  return JSON.stringify(Object.fromEntries(byProduct));
}
