import { fromBinary } from "@bufbuild/protobuf";
import { instantFromProto } from "@scrip/mapping";
import { OrderSchema } from "@scrip/proto/scrip/common/v1/order_pb";
import type { RollbackCommand as CommandMessage } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";

import { requireNow } from "../commit/parse-command.ts";
import type { RollbackTarget, RollbackCommand } from "../domain/decide-rollbacks.ts";
import type { StoredRedemption } from "../store/redemptions.ts";

/** The command that is decided, and its message. */
export type Command = RollbackCommand & {
  readonly message: CommandMessage;
  /** The project's time, in epoch milliseconds. */
  readonly at: number;
};

export function parseCommand(message: CommandMessage): Command {
  const { projectId, idempotency, redemptionId, stacked, customerId, orderId, notBefore } = message;
  return {
    message,
    projectId,
    redemptionId,
    stacked,
    at: instantFromProto(requireNow(message)),
    idempotency: idempotency ?? null,
    customerId: customerId ?? null,
    orderId: orderId ?? null,
    notBefore: notBefore === undefined ? null : instantFromProto(notBefore),
  };
}

export const rollbackTargetFromStored = (stored: StoredRedemption): RollbackTarget => ({
  id: stored.id,
  parentId: stored.parentId,
  status: stored.status,
  at: stored.createdAt,
  customerId: stored.customerId,
  channelId: stored.channelId,
  voucherId: stored.voucherId,
  tierId: stored.tierId,
  campaignId: stored.campaignId,
  amount: stored.amount,
  orderAmount: stored.orderAmount,
  discountedAmount: stored.discountedAmount,
  units: stored.units,
  orderNames: stored.order === null ? [] : orderIdsOf(stored.order),
});

function orderIdsOf(order: Uint8Array): readonly string[] {
  const { id, sourceId } = fromBinary(OrderSchema, order);
  return [id, sourceId].filter((name) => name !== undefined);
}
