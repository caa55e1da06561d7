import { countFromProto, instantFromProto } from "@scrip/mapping";
import type { PromotionTierSummary } from "@scrip/proto/scrip/common/v1/promotion_tier_pb";
import {
  type CountGuard,
  type RedemptionCommand,
  type RedemptionPart,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";

import type { CommitCommand, Part } from "../domain/commit.ts";
import type { Guard } from "../domain/counts.ts";
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
    count: { projectId, ...countFromProto(count) },
    add,
    conditions: conditions ?? {},
    rejects: rejection !== undefined,
  };
}

export function requireNow<Now>({ now }: { readonly now?: Now | undefined }): Now {
  if (now === undefined) throw new Error("a command has no time");
  return now;
}
