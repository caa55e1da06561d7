import type { JsonObject } from "@bufbuild/protobuf";

import type { RedeemedPoints } from "../domain/points.ts";
import type { Redeemed } from "../domain/rollback.ts";
import { rowKey, type VoucherUsage } from "../domain/usage.ts";
import type { StoredRedemption } from "../store/redemptions.ts";
import type { NewRollback } from "../store/rollbacks.ts";
import type { RollbackParts } from "./build-outcomes.ts";
import type { Command } from "./parse-command.ts";

/** What is stored of a rollback that was made. */
export function rowOf(
  command: Command,
  part: Redeemed,
  {
    id,
    parentId,
    usage,
    parts,
  }: {
    readonly id: string;
    readonly parentId: string | null;
    readonly usage: VoucherUsage | null;
    readonly parts: RollbackParts;
  },
): NewRollback {
  const { message, projectId, at } = command;
  const stored = storedOf(projectId, part, parts);
  return {
    projectId,
    id,
    redemptionId: part.id,
    parentId,
    voucherId: part.voucherId,
    tierId: part.tierId,
    campaignId: part.campaignId,
    createdAt: at,
    status: "SUCCEEDED",
    amount: part.amount,
    reason: message.reason ?? null,
    orderMode: message.orderMode,
    customerId: part.customerId,
    trackingId: message.trackingId ?? stored.trackingId,
    metadata: jsonOf(mergedMetadata(command, stored)),
    channelId: message.channel?.channelId ?? "",
    channelType: message.channel?.channelType ?? "API",
    order: null,
    after: usage,
    failure: null,
    requestId: message.requestId,
    points: null,
  };
}

/** The card as it stands when its points are given back, which happens after the commit. */
export function pointsBack(
  { projectId }: Command,
  part: Redeemed,
  parts: RollbackParts,
): RedeemedPoints | null {
  const { points: taken } = storedOf(projectId, part, parts);
  if (taken === null || part.voucherId === null) return null;
  const key = rowKey(projectId, part.voucherId);
  const before = parts.context.cards.get(key);
  if (before === undefined) return taken;
  const after = {
    points: before.points,
    balance: before.balance + taken.points,
    redeemedPoints: before.redeemedPoints - taken.points,
  };
  // The next rollback of the same batch finds it so.
  parts.context.cards.set(key, after);
  return { ...taken, ...after, points: taken.points, cardPoints: after.points };
}

export const storedOf = (
  projectId: string,
  { id }: Redeemed,
  { context }: RollbackParts,
): StoredRedemption => {
  const stored = context.stored.get(rowKey(projectId, id));
  if (stored === undefined) throw new Error(`redemption ${id} was not read`);
  return stored;
};

export const mergedMetadata = (
  { message }: Command,
  { metadata }: StoredRedemption,
): JsonObject | null =>
  message.metadata === undefined ? metadata : { ...metadata, ...message.metadata };

export const jsonOf = (metadata: JsonObject | null): string | null =>
  metadata === null ? null : JSON.stringify(metadata);
