import type { Order, OrderRedemption } from "@scrip/proto/scrip/common/v1/order_pb";
import type { Rollback, CommittedRollbacks } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";

import type { RollbackTarget, NewRollbackDecision } from "../domain/decide-rollbacks.ts";
import { rowKey, type VoucherUsage } from "../domain/usage.ts";
import { encodeOrder } from "../events/redemption-made.ts";
import { redemptionRolledBack } from "../events/redemption-rolled-back.ts";
import { withRedeemedPoints } from "../mapping/points.ts";
import { redemptionToProto } from "../mapping/redemption.ts";
import { rollbackToProto } from "../mapping/rollback.ts";
import { cachedVoucherToProto } from "../mapping/voucher.ts";
import type { StoredRedemption } from "../store/redemptions.ts";
import type { NewRollback } from "../store/rollbacks.ts";
import {
  metadataToJson,
  mergedMetadata,
  returnedPoints,
  rollbackToRow,
  storedRedemptionOf,
} from "./build-rows.ts";
import type { RollbackBuild } from "./draft.ts";
import type { Command } from "./parse-command.ts";

type CommittedRollback = Extract<NewRollbackDecision, { kind: "committed" }>;

/** Builds one rollback for each part, and a parent rollback for a stack. */
export function buildRollbacks(
  command: Command,
  { redemption, parts: targets, usages }: CommittedRollback,
  build: RollbackBuild,
): CommittedRollbacks {
  const { draft, context } = build;
  const { projectId } = command;
  const isStack = targets[0]?.id !== redemption.id;
  const ids = targets.map(() => context.newId("rr"));
  const parentId = isStack ? context.newId("rr") : null;
  const order = orderOf(command, redemption, { ids, parentId });
  const orderBytes = order === undefined ? null : encodeOrder(order);
  const rollbacks = targets.map((part, position): Rollback => {
    const usage = usages[position] ?? null;
    const row = {
      ...rollbackToRow(command, part, { id: ids[position] ?? "", parentId, usage, build }),
      points: returnedPoints(command, part, build),
    };
    draft.rollbacks.push({ ...row, order: orderBytes });
    addReturnedValue(command, part, { usage, build });
    const isLast = position === targets.length - 1;
    draft.events.push(
      redemptionRolledBack(row, {
        id: context.newId("event"),
        command: command.message,
        order: isLast ? order : undefined,
        rolledBack: part,
      }),
    );
    return messageOf(command, row, { order, usage, part, build });
  });
  const parentRow =
    parentId === null
      ? undefined
      : rollbackToRow(command, redemption, { id: parentId, parentId: null, usage: null, build });
  if (parentRow !== undefined) draft.rollbacks.push({ ...parentRow, order: orderBytes });
  const all = isStack ? [...targets, redemption] : targets;
  const redemptions = all.map((one) => {
    const after = asRolledBack(command, storedRedemptionOf(projectId, one, build));
    draft.rolledBack.push({ projectId, id: one.id, metadata: metadataToJson(after.metadata) });
    return redemptionToProto(after, voucherOf(projectId, one, { usages, build }));
  });
  return {
    $typeName: "scrip.voucher.v1.CommittedRollbacks",
    rollbacks,
    parentRollback:
      parentRow && messageOf(command, parentRow, { order, usage: null, part: redemption, build }),
    redemptions,
  };
}

/** The order that the caller calculated, with the entry that lists the rollback. */
function orderOf(
  { message }: Command,
  { id }: RollbackTarget,
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

function addReturnedValue(
  { projectId, at }: Command,
  part: RollbackTarget,
  {
    usage,
    build: { draft },
  }: { readonly usage: VoucherUsage | null; readonly build: RollbackBuild },
): void {
  if (part.campaignId !== null || part.tierId !== null) {
    draft.decrements.push({ ...part, projectId, credits: part.amount ?? 0n });
  }
  if (usage === null) return;
  draft.usages.set(rowKey(projectId, usage.voucherId), usage);
  if (part.amount === null || part.amount === 0n) return;
  draft.ledgerEntries.push({
    projectId,
    voucherId: usage.voucherId,
    campaignId: part.campaignId,
    version: usage.ledgerVersion,
    amount: part.amount,
    balanceAfter: usage.balance ?? 0n,
    redemptionId: part.id,
    createdAt: at,
  });
}

const asRolledBack = (command: Command, stored: StoredRedemption): StoredRedemption => ({
  ...stored,
  status: "ROLLED_BACK",
  metadata: mergedMetadata(command, stored),
});

function voucherOf(
  projectId: string,
  { voucherId }: RollbackTarget,
  {
    usages,
    build,
  }: { readonly usages: CommittedRollback["usages"]; readonly build: RollbackBuild },
) {
  const usage = usages.findLast((one) => one !== null && one.voucherId === voucherId);
  if (usage === null || usage === undefined || voucherId === null) return undefined;
  const template = build.context.definitions.byId(projectId, voucherId);
  return template && { definition: template.definition, usage };
}

function messageOf(
  command: Command,
  row: NewRollback,
  {
    order,
    usage,
    part,
    build,
  }: {
    readonly order: Order | undefined;
    readonly usage: VoucherUsage | null;
    readonly part: RollbackTarget;
    readonly build: RollbackBuild;
  },
): Rollback {
  const { message, projectId } = command;
  const stored = storedRedemptionOf(projectId, part, build);
  const template =
    usage === null ? undefined : build.context.definitions.byId(projectId, usage.voucherId);
  return rollbackToProto(row, {
    date: message.now,
    order,
    redemption: stored,
    metadata: mergedMetadata(command, stored),
    voucher:
      usage === null || template === undefined
        ? undefined
        : withRedeemedPoints(cachedVoucherToProto(template, usage), row.points),
  });
}
