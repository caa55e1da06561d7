import { instantFromProto } from "@scrip/mapping";
import type { PromotionTierSummary } from "@scrip/proto/scrip/common/v1/promotion_tier_pb";
import {
  CountMeasure as MeasureMessage,
  type CountGuard,
  type Count as CountMessage,
  type RedemptionCommand,
  type RedemptionPart,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";

import type { CommitCommand, Part } from "../domain/commit.ts";
import type { Count, CountMeasure, Guard } from "../domain/counts.ts";
import type { DefinitionCache } from "../loading/definition-cache.ts";

/** The command that is decided, and its message. */
export type Command = CommitCommand & { readonly message: RedemptionCommand };

/**
 * Reads a command. When it does not name a voucher's campaign, the definition does: a voucher never changes
 * its campaign, so any cached version is right.
 */
export function parseCommand(
  message: RedemptionCommand,
  definitions: Pick<DefinitionCache, "byId">,
): Command {
  const { projectId, idempotency, customerId, sessionKey } = message;
  const campaignOf = (voucherId: string): string | null =>
    definitions.byId(projectId, voucherId)?.definition.campaignId ?? null;
  return {
    message,
    projectId,
    at: instantFromProto(requireNow(message)),
    idempotency: idempotency ?? null,
    customerId: customerId ?? null,
    channelId: message.channel?.channelId ?? "",
    sessionKey: sessionKey ?? null,
    parts: message.parts.map((part) => partFromProto(part, projectId, campaignOf)),
    isRejection: message.rejection !== undefined,
    isPartial: message.partial === true,
  };
}

function partFromProto(
  part: RedemptionPart,
  projectId: string,
  campaignOf: (voucherId: string) => string | null,
): Part {
  const voucherId = part.redeemable.case === "voucherId" ? part.redeemable.value : null;
  const tier = promotionTierOf(part);
  const own = voucherId === null ? (tier?.campaign?.id ?? null) : campaignOf(voucherId);
  return {
    voucherId,
    tierId: tier?.id ?? null,
    definitionVersion: part.definitionVersion,
    credits: part.credits,
    holdId: part.points?.holdId ?? null,
    campaignId: part.campaignId ?? own,
    orderAmount: part.orderAmount,
    discountedAmount: part.discountedAmount,
    units: part.units,
    guards: part.guards.map((guard) => guardFromProto(guard, projectId)),
  };
}

export const promotionTierOf = ({ redeemable }: RedemptionPart): PromotionTierSummary | undefined =>
  redeemable.case === "promotionTier" ? redeemable.value : undefined;

function guardFromProto(
  { count, add, conditions, rejection }: CountGuard,
  projectId: string,
): Guard {
  if (count === undefined) throw new Error("a guard has no count");
  return {
    count: countFromProto(count, projectId),
    add,
    conditions: conditions ?? {},
    rejects: rejection !== undefined,
  };
}

export function countFromProto(message: CountMessage, projectId: string): Count {
  const { scope, measure, customerId, channelId, since, productId } = message;
  if (scope.case === undefined) throw new Error("a count has no scope");
  return {
    projectId,
    scope: SCOPES[scope.case],
    scopeId: scope.value,
    measure: MEASURES[measure] ?? "redemptions",
    customerId: customerId ?? null,
    channelId: channelId ?? null,
    since: since === undefined ? null : instantFromProto(since),
    productId: productId ?? null,
  };
}

const SCOPES = {
  voucherId: "voucher",
  promotionTierId: "promotion_tier",
  campaignId: "campaign",
} as const;

/** By number: a caller of a newer version may send a measure that is unknown here. */
const MEASURES: Readonly<Record<number, CountMeasure>> = {
  [MeasureMessage.REDEMPTIONS]: "redemptions",
  [MeasureMessage.ORDERS_AMOUNT]: "orders_amount",
  [MeasureMessage.DISCOUNTED_AMOUNT]: "discounted_amount",
  [MeasureMessage.GIFT_CREDITS]: "gift_credits",
  [MeasureMessage.UNITS]: "units",
};

export function requireNow<Now>({ now }: { readonly now?: Now | undefined }): Now {
  if (now === undefined) throw new Error("a command has no time");
  return now;
}
