import { create, toBinary } from "@bufbuild/protobuf";
import type { Order } from "@scrip/proto/scrip/common/v1/order_pb";
import { RedemptionRolledBackSchema } from "@scrip/proto/scrip/events/v1/redemptions_pb";
import type { RollbackCommand } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";

import type { RollbackTarget } from "../domain/decide-rollbacks.ts";
import { originFromProto } from "../mapping/origin.ts";
import type { NewEvent } from "../store/commit-statement.ts";
import type { NewRollback } from "../store/rollbacks.ts";
import { REDEMPTIONS_TOPIC } from "./redemption-made.ts";

/** The event of a rollback, also of a failed one (docs/events.md#messages). */
export function redemptionRolledBack(
  row: NewRollback,
  {
    id,
    command,
    order,
    rolledBack,
  }: {
    readonly id: string;
    readonly command: Pick<
      RollbackCommand,
      "now" | "traceparent" | "requestId" | "caller" | "orderWasCanceled"
    >;
    readonly order: Order | undefined;
    /** The redemption that is rolled back; undefined for a failed rollback. */
    readonly rolledBack: Pick<RollbackTarget, "orderAmount" | "discountedAmount"> | undefined;
  },
): NewEvent {
  const { projectId, tierId, campaignId, customerId, amount, parentId, points } = row;
  const { now, traceparent } = command;
  const message = create(RedemptionRolledBackSchema, {
    projectId,
    rollbackId: row.id,
    redemptionId: row.redemptionId,
    voucherId: row.voucherId ?? "",
    orderMode: row.orderMode,
    rejected: row.status === "FAILED",
    orderWasCanceled: order !== undefined && command.orderWasCanceled,
    orderAmount: rolledBack?.orderAmount ?? 0n,
    discountedAmount: rolledBack?.discountedAmount ?? 0n,
    ...(tierId !== null && { promotionTierId: tierId }),
    ...(campaignId !== null && { campaignId }),
    ...(customerId !== null && { customerId }),
    ...(now !== undefined && { date: now }),
    ...(amount !== null && { amount }),
    ...(order !== undefined && { order }),
    ...(parentId !== null && { parentRollbackId: parentId }),
    ...(points !== null && { points: points.points, pointsHoldId: points.holdId }),
    ...(points !== null && points.reward !== null && { rewardId: points.reward.id }),
  });
  return {
    projectId,
    id,
    topic: REDEMPTIONS_TOPIC,
    type: RedemptionRolledBackSchema.typeName,
    key: row.voucherId ?? tierId ?? row.redemptionId,
    payload: toBinary(RedemptionRolledBackSchema, message),
    traceparent,
    origin: originFromProto(command),
  };
}
