import { errorFromProto } from "@scrip/errors";
import { instantFromProto, instantToProto } from "@scrip/mapping";
import type { Customer } from "@scrip/proto/scrip/common/v1/customer_pb";
import { type Order, type OrderInput, OrderStatus } from "@scrip/proto/scrip/common/v1/order_pb";
import type { RollbackRedemptionsRequest } from "@scrip/proto/scrip/validation/v1/validations_pb";
import type {
  Redemption,
  RollbackCommand,
  RollbackOutcome,
  CommittedRollbacks,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import { type Call, neededOriginOf } from "@scrip/rpc";
import { addDuration } from "@scrip/rules";
import { exportedTraceparent } from "@scrip/telemetry";

import { commitWithRetry } from "../commit/commit-retry.ts";
import { runPostCommit, retryWhileUnavailable } from "../commit/post-commit.ts";
import type { Deps } from "../deps.ts";
import { loadStackingRules } from "../loading/stacking-rules.ts";
import { callerToProto } from "../mapping/origin.ts";
import { rolledBackOrder } from "../mapping/rolled-back-order.ts";
import { trackingIdOf } from "../mapping/tracking-id.ts";
import { type CommitState, type OrderClaim, claimStoredOrder } from "../order/order-claim.ts";
import { repairOrders } from "../store/order-repairs.ts";

/** Rolls back one redemption, or with `stacked` a whole stack. */
export type RollbackInput = Omit<RollbackRedemptionsRequest, "$typeName"> & {
  readonly stacked: boolean;
};

/**
 * Rolls back a redemption and removes its discount from its order
 * (docs/redemption-and-rollback.md#rollback). The voucher service decides whether it may be rolled
 * back (its domain/decide-rollbacks.ts). The order is claimed, so that no concurrent request
 * calculates on outdated figures; parallel rollbacks wait for each other.
 */
export async function runRollback(
  deps: Deps,
  sent: Call,
  input: RollbackInput,
): Promise<CommittedRollbacks> {
  const [redemption, stacking, customerId] = await Promise.all([
    deps.clients.getRedemption(input.redemptionId, sent),
    loadStackingRules(deps, sent),
    customerIdOf(deps, sent, input.customer),
  ]);
  const redeemed = redemption.order;
  const orderClaim =
    redeemed?.id === undefined ? undefined : await claimStoredOrder(deps, sent, redeemed.id);
  const call = { ...sent, now: orderClaim?.now ?? sent.now };
  let state: CommitState = "none";
  try {
    const mode = stacking.redeemablesRollbackOrderMode;
    const context = { redemptionId: redemption.id, mode, now: call.now };
    const before = storedOrderWithRedemption(orderClaim, redemption) ?? redeemed;
    const order = redeemed && before && rolledBackOrder(before, redeemed, context);
    const orderId = orderIdOf(input.order, before);
    const command = {
      ...buildRollbackCommand(deps, call, input, redemption),
      orderMode: mode,
      orderWasCanceled: before?.status === OrderStatus.CANCELED,
      ...(order !== undefined && { order }),
      ...(customerId !== undefined && { customerId }),
      ...(orderId !== undefined && { orderId }),
    };
    state = "unknown";
    const outcome = await commitWithRetry(() => deps.clients.commitRollback(command, call));
    state = outcome.outcome.case === "committed" && !outcome.replayed ? "committed" : "none";
    return await finishRollback(deps, call, outcome, { isStored: orderClaim !== undefined });
  } finally {
    await runPostCommit(deps, "releasing the order of a rollback", orderClaim?.end(state));
  }
}

/**
 * The stored order, unless it is older than the redemption because the redemption's process died
 * before storing it.
 */
function storedOrderWithRedemption(
  orderClaim: OrderClaim | undefined,
  { id }: Redemption,
): Order | undefined {
  const stored = orderClaim?.stored ?? undefined;
  return stored !== undefined && Object.hasOwn(stored.redemptions, id) ? stored : undefined;
}

/** Sent for an unknown customer or order: the commit rejects an id that matches nothing. */
const UNKNOWN_ID = "";

async function customerIdOf(
  deps: Pick<Deps, "clients">,
  call: Call,
  customer: Customer | undefined,
): Promise<string | undefined> {
  if (customer === undefined) return undefined;
  if (customer.id !== undefined) return customer.id;
  const result = await deps.clients.resolveCustomer(
    {
      projectId: call.project.id,
      customer,
      upsert: false,
      now: instantToProto(call.now),
    },
    call,
  );
  return result.customer?.id ?? UNKNOWN_ID;
}

function orderIdOf(input: OrderInput | undefined, own: Order | undefined): string | undefined {
  if (input === undefined) return undefined;
  if (input.id !== undefined) return input.id;
  if (input.sourceId === undefined) return undefined;
  return own?.sourceId === input.sourceId ? own.id : UNKNOWN_ID;
}

/** How long after its date a redemption can be rolled back. */
const ROLLBACK_PERIOD = { months: 3, days: 0, ms: 0 };

function buildRollbackCommand(
  deps: Deps,
  call: Call,
  input: RollbackInput,
  redemption: Redemption,
): RollbackCommand {
  const { reason, metadata } = input;
  const tracking = trackingIdOf(deps.trackingSecret, call.project.id, input);
  const date = redemption.date === undefined ? 0 : instantFromProto(redemption.date);
  const last = addDuration(call.project.timeZone, date, ROLLBACK_PERIOD, 1);
  const traceparent = exportedTraceparent();
  return {
    $typeName: "scrip.voucher.v1.RollbackCommand",
    projectId: call.project.id,
    requestId: call.requestId,
    now: instantToProto(call.now),
    redemptionId: redemption.id,
    stacked: input.stacked,
    orderMode: "",
    orderWasCanceled: false,
    // Adding months and subtracting them are not inverse, so the end is calculated from the
    // redemption's date.
    notBefore: instantToProto(call.now > last ? date + 1 : date),
    channel: {
      $typeName: "scrip.voucher.v1.Channel",
      channelId: call.caller.id,
      channelType: "API",
    },
    ...(call.idempotency !== undefined && {
      idempotency: { $typeName: "scrip.voucher.v1.IdempotencyKey", ...call.idempotency },
    }),
    ...(traceparent !== undefined && { traceparent }),
    ...callerToProto(call),
    ...(reason !== undefined && { reason }),
    ...(tracking !== undefined && { trackingId: tracking }),
    ...(metadata !== undefined && { metadata }),
  };
}

/**
 * As with redemptions, the commit is the source of truth: a replay, and a rollback whose order is
 * not stored, only repair the order.
 */
async function finishRollback(
  deps: Deps,
  call: Call,
  outcome: RollbackOutcome,
  { isStored }: { readonly isStored: boolean },
): Promise<CommittedRollbacks> {
  if (outcome.replayed) call.onReplay?.();
  switch (outcome.outcome.case) {
    case "committed": {
      const committed = outcome.outcome.value;
      const rollback = committed.parentRollback ?? committed.rollbacks[0];
      if (rollback?.order !== undefined) {
        const { order, date } = rollback;
        const at = new Date(date === undefined ? call.now : instantFromProto(date));
        const origin = neededOriginOf(call);
        const stored = { projectId: call.project.id, order, at, origin };
        const storing =
          outcome.replayed || !isStored
            ? repairOrders(deps.db, [stored])
            : retryWhileUnavailable(() => deps.saveOrder(stored), call.deadline);
        await runPostCommit(deps, "storing the order of a rollback", storing);
      }
      return committed;
    }
    case "rejected":
      throw errorFromProto(outcome.outcome.value);
    default:
      throw new Error("the rollback response has no outcome");
  }
}
