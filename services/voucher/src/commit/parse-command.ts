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
import type { Templates } from "../loading/definition-cache.ts";

/** A command as decided on, and the message that it came in. */
export type Command = CommitCommand & { readonly message: RedemptionCommand };

/**
 * What is decided of a command. A voucher's campaign is that of its definition where the command does
 * not name it: it never changes, so any version of the definition will do.
 */
export function parseCommand(
  message: RedemptionCommand,
  templates: Pick<Templates, "byId">,
): Command {
  const { projectId, idempotency, customerId, sessionKey } = message;
  const campaignOf = (voucherId: string): string | null =>
    templates.byId(projectId, voucherId)?.definition.campaignId ?? null;
  return {
    message,
    projectId,
    at: instantFromProto(nowOf(message)),
    idempotency: idempotency ?? null,
    customerId: customerId ?? null,
    channelId: message.channel?.channelId ?? "",
    sessionKey: sessionKey ?? null,
    parts: message.parts.map((part) => parsePart(part, projectId, campaignOf)),
    refused: message.rejection !== undefined,
    isPartial: message.partial === true,
  };
}

function parsePart(
  part: RedemptionPart,
  projectId: string,
  campaignOf: (voucherId: string) => string | null,
): Part {
  const voucherId = part.redeemable.case === "voucherId" ? part.redeemable.value : null;
  const tier = tierOf(part);
  const own = voucherId === null ? (tier?.campaign?.id ?? null) : campaignOf(voucherId);
  return {
    voucherId,
    tierId: tier?.id ?? null,
    definitionVersion: part.definitionVersion,
    credits: part.credits,
    spendId: part.points?.holdId ?? null,
    campaignId: part.campaignId ?? own,
    orderAmount: part.orderAmount,
    discountedAmount: part.discountedAmount,
    units: part.units,
    guards: part.guards.map((guard) => parseGuard(guard, projectId)),
  };
}

export const tierOf = ({ redeemable }: RedemptionPart): PromotionTierSummary | undefined =>
  redeemable.case === "promotionTier" ? redeemable.value : undefined;

function parseGuard(
  { count, add, conditions, rejection: refusal }: CountGuard,
  projectId: string,
): Guard {
  if (count === undefined) throw new Error("a guard without its count");
  return {
    count: parseCount(count, projectId),
    add,
    conditions: conditions ?? {},
    refuses: refusal !== undefined,
  };
}

export function parseCount(message: CountMessage, projectId: string): Count {
  const { scope, measure, customerId, channelId, since, productId } = message;
  if (scope.case === undefined) throw new Error("a count without its scope");
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

/** By number: a caller of another version may send one that is not known here. */
const MEASURES: Readonly<Record<number, CountMeasure>> = {
  [MeasureMessage.REDEMPTIONS]: "redemptions",
  [MeasureMessage.ORDERS_AMOUNT]: "orders_amount",
  [MeasureMessage.DISCOUNTED_AMOUNT]: "discounted_amount",
  [MeasureMessage.GIFT_CREDITS]: "gift_credits",
  [MeasureMessage.UNITS]: "units",
};

export function nowOf<Now>({ now }: { readonly now?: Now | undefined }): Now {
  if (now === undefined) throw new Error("a command without its present");
  return now;
}
