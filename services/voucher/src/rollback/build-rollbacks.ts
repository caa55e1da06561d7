import type { Order, OrderRedemption } from "@scrip/proto/scrip/common/v1/order_pb";
import type { Rollback, CommittedRollbacks } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";

import type { Redeemed, RollbackVerdict } from "../domain/rollback.ts";
import { rowKey, type VoucherUsage } from "../domain/usage.ts";
import { encodeOrder } from "../events/redemption-made.ts";
import { rolledBackEvent } from "../events/redemption-rolled-back.ts";
import { withPoints } from "../mapping/points.ts";
import { toRedemption } from "../mapping/redemption.ts";
import { toRollback } from "../mapping/rollback.ts";
import { composeVoucher } from "../mapping/voucher.ts";
import type { StoredRedemption } from "../store/redemptions.ts";
import type { NewRollback } from "../store/rollbacks.ts";
import type { RollbackParts } from "./build-outcomes.ts";
import { jsonOf, mergedMetadata, pointsBack, rowOf, storedOf } from "./build-rows.ts";
import type { Command } from "./parse-command.ts";

type Made = Extract<RollbackVerdict, { kind: "made" }>;

/** One rollback for each part, and of a stack one more that stands for all of them. */
export function renderMade(
  command: Command,
  { redemption, parts: taken, usages }: Made,
  parts: RollbackParts,
): CommittedRollbacks {
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
    $typeName: "scrip.voucher.v1.CommittedRollbacks",
    rollbacks,
    parentRollback:
      parentRow && messageOf(command, parentRow, { order, usage: null, part: redemption, parts }),
    redemptions,
  };
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

const rolledBack = (command: Command, stored: StoredRedemption): StoredRedemption => ({
  ...stored,
  status: "ROLLED_BACK",
  metadata: mergedMetadata(command, stored),
});

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
