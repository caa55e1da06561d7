import type { JsonObject } from "@bufbuild/protobuf";

import type { RollbackTarget } from "../domain/decide-rollbacks.ts";
import type { RedeemedPoints } from "../domain/points.ts";
import { rowKey, type VoucherUsage } from "../domain/usage.ts";
import type { StoredRedemption } from "../store/redemptions.ts";
import type { NewRollback } from "../store/rollbacks.ts";
import type { RollbackBuild } from "./draft.ts";
import type { Command } from "./parse-command.ts";

/** The row of a successful rollback. */
export function rollbackToRow(
  command: Command,
  part: RollbackTarget,
  {
    id,
    parentId,
    usage,
    build,
  }: {
    readonly id: string;
    readonly parentId: string | null;
    readonly usage: VoucherUsage | null;
    readonly build: RollbackBuild;
  },
): NewRollback {
  const { message, projectId, at } = command;
  const stored = storedRedemptionOf(projectId, part, build);
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
    metadata: metadataToJson(mergedMetadata(command, stored)),
    channelId: message.channel?.channelId ?? "",
    channelType: message.channel?.channelType ?? "API",
    order: null,
    after: usage,
    failure: null,
    requestId: message.requestId,
    points: null,
  };
}

/** The balances of the card after its points are returned, which happens after the commit. */
export function returnedPoints(
  { projectId }: Command,
  part: RollbackTarget,
  build: RollbackBuild,
): RedeemedPoints | null {
  const { points: redeemed } = storedRedemptionOf(projectId, part, build);
  if (redeemed === null || part.voucherId === null) return null;
  const key = rowKey(projectId, part.voucherId);
  const before = build.context.cards.get(key);
  if (before === undefined) return redeemed;
  const after = {
    points: before.points,
    balance: before.balance + redeemed.points,
    redeemedPoints: before.redeemedPoints - redeemed.points,
  };
  // The next rollback of the same batch continues from here.
  build.context.cards.set(key, after);
  return { ...redeemed, ...after, points: redeemed.points, cardPoints: after.points };
}

export const storedRedemptionOf = (
  projectId: string,
  { id }: RollbackTarget,
  { context }: RollbackBuild,
): StoredRedemption => {
  const stored = context.stored.get(rowKey(projectId, id));
  if (stored === undefined) throw new Error(`redemption ${id} was not loaded`);
  return stored;
};

export const mergedMetadata = (
  { message }: Command,
  { metadata }: StoredRedemption,
): JsonObject | null =>
  message.metadata === undefined ? metadata : { ...metadata, ...message.metadata };

export const metadataToJson = (metadata: JsonObject | null): string | null =>
  metadata === null ? null : JSON.stringify(metadata);
