import { timestampMs } from "@bufbuild/protobuf/wkt";
import { currentTime } from "@scrip/clock";
import { type DeliveredEvent, type EventHandler, eventMessage, originOf } from "@scrip/events";
import { OrderStatus } from "@scrip/proto/scrip/common/v1/order_pb";
import { OrderEditedSchema } from "@scrip/proto/scrip/events/v1/orders_pb";
import { RedemptionRolledBackSchema } from "@scrip/proto/scrip/events/v1/redemptions_pb";
import { type FindProject, REQUEST_DEADLINE_MS } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { keyOf } from "../domain/key.ts";
import { cancelPendingOfOrders, type Cancellation } from "../points/cancel-orders.ts";

/**
 * Cancels the pending points of orders that an edit or a rollback has canceled, in projects with that setting. The topics of
 * orders and redemptions are consumed concurrently, so an order can be canceled here before its payment has earned points.
 */
export const onOrderCanceled =
  (deps: Pick<Deps, "db" | "newId" | "onEvents">, findProject: FindProject): EventHandler =>
  async (events) => {
    const cancellations: Cancellation[] = [];
    for (const one of latestOfOrders(events.flatMap((event) => cancellationIn(event) ?? []))) {
      if (await isCanceling(findProject, one)) cancellations.push(one);
    }
    if (cancellations.length === 0) return;
    await deps.db.transaction((tx) => cancelPendingOfOrders(tx, deps, cancellations));
    deps.onEvents();
  };

function cancellationIn(event: DeliveredEvent): Cancellation | undefined {
  const rollback = eventMessage(event, RedemptionRolledBackSchema);
  if (rollback?.rejected === true) return undefined;
  const { projectId, order, date } = eventMessage(event, OrderEditedSchema) ?? rollback ?? {};
  if (projectId === undefined || order?.id === undefined || date === undefined) return undefined;
  if (order.status !== OrderStatus.CANCELED) return undefined;
  return { projectId, orderId: order.id, canceledAt: timestampMs(date), origin: originOf(event) };
}

const latestOfOrders = (cancellations: readonly Cancellation[]): Iterable<Cancellation> =>
  new Map(
    cancellations
      .toSorted((a, b) => a.canceledAt - b.canceledAt)
      .map((one) => [keyOf(one.projectId, one.orderId), one]),
  ).values();

async function isCanceling(
  findProject: FindProject,
  { projectId, origin }: Cancellation,
): Promise<boolean> {
  const deadline = currentTime() + REQUEST_DEADLINE_MS;
  const state = await findProject({ projectId, version: origin?.project?.version, deadline });
  return state?.project.cancelPendingPointsOnOrderCancel === true;
}
