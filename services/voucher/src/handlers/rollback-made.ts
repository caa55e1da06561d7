import type { JsonObject } from "@bufbuild/protobuf";
import type { Error as ErrorMessage } from "@scrip/proto/scrip/common/v1/error_pb";
import type { Order, OrderRedemption } from "@scrip/proto/scrip/common/v1/order_pb";
import type { Rollback, RollbacksMade } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";

import type { PointsTaken } from "../domain/points.ts";
import type { Redeemed, RollbackVerdict } from "../domain/rollback.ts";
import { rowKey, type VoucherUsage } from "../domain/usage.ts";
import { encodeOrder } from "../events/published.ts";
import { rolledBackEvent } from "../events/rolled-back.ts";
import type { StoredRedemption } from "../store/redemptions.ts";
import type { NewRollback } from "../store/rollbacks.ts";
import { withPoints } from "./points-message.ts";
import { toRedemption } from "./redemption-message.ts";
import type { Command } from "./rollback-command.ts";
import { toRollback } from "./rollback-message.ts";
import type { RollbackParts } from "./rollback-outcomes.ts";
import { composeVoucher } from "./voucher-message.ts";

type Made = Extract<RollbackVerdict, { kind: "made" }>;

/** One rollback for each part, and of a stack one more that stands for all of them. */
export function renderMade(
  command: Command,
  { redemption, parts: taken, usages }: Made,
  parts: RollbackParts,
): RollbacksMade {
  const { draft, context } = parts;
  const { projectId } = command;
  const isStack = taken[0]?.id !== redemption.id;
  const ids = taken.map(() => context.newId("rr"));
  const parentId = isStack ? context.newId("rr") : null;
  const order = orderOf(command, redemption, { ids, parentId });
  const orderBytes = order === undefined ? null : encodeOrder(order);
  const rollbacks = taken.map((part, position): Rollback => {
    const usage = usages[position] ?? null;
    const row = {
      ...rowOf(command, part, { id: ids[position] ?? "", parentId, usage, parts }),
      points: pointsBack(command, part, parts),
    };
    draft.rollbacks.push({ ...row, order: orderBytes });
    giveBack(command, part, { usage, parts });
    const isLast = position === taken.length - 1;
    draft.events.push(
      rolledBackEvent(row, {
        id: context.newId("event"),
        now: command.message.now,
        order: isLast ? order : undefined,
        taken: part,
      }),
    );
    return messageOf(command, row, { order, usage, part, parts });
  });
  const parentRow =
    parentId === null
      ? undefined
      : rowOf(command, redemption, { id: parentId, parentId: null, usage: null, parts });
  if (parentRow !== undefined) draft.rollbacks.push({ ...parentRow, order: orderBytes });
  const all = isStack ? [...taken, redemption] : taken;
  const redemptions = all.map((one) => {
    const after = rolledBack(command, storedOf(projectId, one, parts));
    draft.rolledBack.push({ projectId, id: one.id, metadata: jsonOf(after.metadata) });
    return toRedemption(after, voucherOf(projectId, one, { usages, parts }));
  });
  return {
    $typeName: "scrip.voucher.v1.RollbacksMade",
    rollbacks,
    parentRollback:
      parentRow && messageOf(command, parentRow, { order, usage: null, part: redemption, parts }),
    redemptions,
  };
}

/** Records a rollback that was refused, which changes nothing else. Answers its id. */
export function recordRefusal(
  command: Command,
  redemption: Redeemed,
  { error, parts }: { readonly error: ErrorMessage; readonly parts: RollbackParts },
): string {
  const { draft, context } = parts;
  const id = context.newId("rrf");
  const row: NewRollback = {
    ...rowOf(command, redemption, { id, parentId: null, usage: null, parts }),
    status: "FAILED",
    amount: null,
    failure: { code: error.key, message: error.message },
  };
  draft.rollbacks.push(row);
  if (row.customerId !== null) {
    draft.events.push(
      rolledBackEvent(row, {
        id: context.newId("event"),
        now: command.message.now,
        order: undefined,
        taken: undefined,
      }),
    );
  }
  return id;
}

/** The order as the caller worked it out, with the entry that names the rollback. */
function orderOf(
  { message }: Command,
  { id }: Redeemed,
  { ids, parentId }: { readonly ids: readonly string[]; readonly parentId: string | null },
): Order | undefined {
  const { order } = message;
  if (order === undefined) return undefined;
  const before: OrderRedemption = order.redemptions[id] ?? {
    $typeName: "scrip.common.v1.OrderRedemption",
    relatedObjectType: "redemption",
    relatedObjectId: id,
    stacked: [],
    rollbackStacked: [],
  };
  const entry: OrderRedemption = {
    ...before,
    rollbackId: parentId ?? ids[0],
    rollbackDate: message.now,
    rollbackStacked: parentId === null ? [] : [...ids],
  };
  return { ...order, redemptions: { ...order.redemptions, [id]: entry } };
}

function rowOf(
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
function pointsBack(
  { projectId }: Command,
  part: Redeemed,
  parts: RollbackParts,
): PointsTaken | null {
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

function giveBack(
  { projectId, at }: Command,
  part: Redeemed,
  {
    usage,
    parts: { draft },
  }: { readonly usage: VoucherUsage | null; readonly parts: RollbackParts },
): void {
  if (part.campaignId !== null || part.tierId !== null) {
    draft.additions.push({ ...part, projectId, credits: part.amount ?? 0n });
  }
  if (usage === null) return;
  draft.usages.set(rowKey(projectId, usage.voucherId), usage);
  if (part.amount === null || part.amount === 0n) return;
  draft.ledgerEntries.push({
    projectId,
    voucherId: usage.voucherId,
    version: usage.ledgerVersion,
    amount: part.amount,
    balanceAfter: usage.balance ?? 0n,
    redemptionId: part.id,
    createdAt: at,
  });
}

const storedOf = (
  projectId: string,
  { id }: Redeemed,
  { context }: RollbackParts,
): StoredRedemption => {
  const stored = context.stored.get(rowKey(projectId, id));
  if (stored === undefined) throw new Error(`redemption ${id} was not read`);
  return stored;
};

const rolledBack = (command: Command, stored: StoredRedemption): StoredRedemption => ({
  ...stored,
  status: "ROLLED_BACK",
  metadata: mergedMetadata(command, stored),
});

const mergedMetadata = ({ message }: Command, { metadata }: StoredRedemption): JsonObject | null =>
  message.metadata === undefined ? metadata : { ...metadata, ...message.metadata };

const jsonOf = (metadata: JsonObject | null): string | null =>
  metadata === null ? null : JSON.stringify(metadata);

function voucherOf(
  projectId: string,
  { voucherId }: Redeemed,
  { usages, parts }: { readonly usages: Made["usages"]; readonly parts: RollbackParts },
) {
  const usage = usages.findLast((one) => one !== null && one.voucherId === voucherId);
  if (usage === null || usage === undefined || voucherId === null) return undefined;
  const template = parts.context.templates.byId(projectId, voucherId);
  return template && { definition: template.definition, usage };
}

function messageOf(
  command: Command,
  row: NewRollback,
  {
    order,
    usage,
    part,
    parts,
  }: {
    readonly order: Order | undefined;
    readonly usage: VoucherUsage | null;
    readonly part: Redeemed;
    readonly parts: RollbackParts;
  },
): Rollback {
  const { message, projectId } = command;
  const stored = storedOf(projectId, part, parts);
  const template =
    usage === null ? undefined : parts.context.templates.byId(projectId, usage.voucherId);
  return toRollback(row, {
    date: message.now,
    order,
    redemption: stored,
    metadata: mergedMetadata(command, stored),
    voucher:
      usage === null || template === undefined
        ? undefined
        : withPoints(composeVoucher(template, usage), row.points),
  });
}
