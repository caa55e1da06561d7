import { toBinary } from "@bufbuild/protobuf";
import { CustomerSchema } from "@scrip/proto/scrip/common/v1/customer_pb";
import { ExplanationSchema } from "@scrip/proto/scrip/common/v1/explanation_pb";
import { PromotionTierSummarySchema } from "@scrip/proto/scrip/common/v1/promotion_tier_pb";

import type { Units } from "../domain/counts.ts";
import type { VoucherUsage } from "../domain/usage.ts";
import { parsePoints } from "../mapping/points.ts";
import type { NewRedemption } from "../store/commit-statement.ts";
import { pointsToJson } from "../store/points-json.ts";
import { type Command, tierOf } from "./parse-command.ts";

/** What became of a part, or of a whole stack. */
export type RowResult = {
  readonly id: string;
  readonly parentId: string | null;
  /** Credits taken; null of what is no gift. */
  readonly amount: bigint | null;
  readonly order: Uint8Array | null;
  readonly after: VoucherUsage | null;
  readonly failure: NewRedemption["failure"];
};

/**
 * The row of a part, or with null that of the parent, which stands for all of them and counts nowhere.
 * Written as one literal, because it is made for each redemption.
 */
export function rowOf(command: Command, part: number | null, result: RowResult): NewRedemption {
  const { message } = command;
  const one = part === null ? undefined : command.parts[part];
  const sent = part === null ? undefined : message.parts[part];
  const tier = sent && tierOf(sent);
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
    order: result.order,
    customer: message.customer === undefined ? null : toBinary(CustomerSchema, message.customer),
    after: result.after,
    failure: result.failure,
    requestId: message.requestId,
    sessionKey: message.sessionKey ?? null,
    orderAmount: amountOrNull(counted?.orderAmount),
    discountedAmount: amountOrNull(counted?.discountedAmount),
    points: result.failure === null ? pointsToJson(parsePoints(sent?.points)) : null,
    units: unitsJson(counted?.units),
    tier: tier === undefined ? null : toBinary(PromotionTierSummarySchema, tier),
    explanation:
      sent?.explanation === undefined ? null : toBinary(ExplanationSchema, sent.explanation),
  };
}

/** Nothing needs no room. */
const amountOrNull = (amount: bigint | undefined): bigint | null =>
  amount === undefined || amount === 0n ? null : amount;

function unitsJson(units: readonly Units[] | undefined): string | null {
  if (units === undefined || units.length === 0) return null;
  const byProduct = units.map(({ productId, quantity }) => [productId, Number(quantity)] as const);
  return JSON.stringify(Object.fromEntries(byProduct));
}
