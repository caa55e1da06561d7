import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { currentTime } from "@scrip/clock";
import { type DeliveredEvent, type EventHandler, eventMessage, originOf } from "@scrip/events";
import { type Order, OrderStatus } from "@scrip/proto/scrip/common/v1/order_pb";
import { OrderEditedSchema } from "@scrip/proto/scrip/events/v1/orders_pb";
import { RedemptionRolledBackSchema } from "@scrip/proto/scrip/events/v1/redemptions_pb";
import { type FindProject, REQUEST_DEADLINE_MS } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { cancelPendingOfOrders, type Cancellation } from "../points/cancel-orders.ts";

/**
 * Cancels the pending points of paid orders that an edit or a rollback has canceled, in projects with that setting. The topics
 * of orders and redemptions are consumed concurrently, so an order can be canceled here before its payment has earned points.
 */
export const onOrderCanceled =
  (deps: Pick<Deps, "db" | "newId" | "onEvents">, findProject: FindProject): EventHandler =>
  async (events) => {
    const rolledBack = events.flatMap((event) => rollbackIn(event) ?? []);
    const cancellations = [
      ...events.flatMap((event) => editIn(event) ?? []),
      ...(await inCancelingProjects(findProject, rolledBack)),
    ];
    if (cancellations.length === 0) return;
    await deps.db.transaction((tx) => cancelPendingOfOrders(tx, deps, cancellations));
    deps.onEvents();
  };

/** The validation service has checked the setting and that the order was paid. */
function editIn(event: DeliveredEvent): Cancellation | undefined {
  const edit = eventMessage(event, OrderEditedSchema);
  return edit?.cancelsPaidOrder === true ? cancellationIn(event, edit) : undefined;
}

/** A redemption has paid the order. */
function rollbackIn(event: DeliveredEvent): Cancellation | undefined {
  const rollback = eventMessage(event, RedemptionRolledBackSchema);
  if (rollback === undefined || rollback.rejected || rollback.orderWasCanceled) return undefined;
  return rollback.order?.status === OrderStatus.CANCELED
    ? cancellationIn(event, rollback)
    : undefined;
}

function cancellationIn(
  event: DeliveredEvent,
  { order, date }: { readonly order?: Order | undefined; readonly date?: Timestamp | undefined },
): Cancellation | undefined {
  if (order?.id === undefined || date === undefined) return undefined;
  const { projectId } = event;
  return { projectId, orderId: order.id, at: timestampMs(date), origin: originOf(event) };
}

async function inCancelingProjects(
  findProject: FindProject,
  cancellations: readonly Cancellation[],
): Promise<readonly Cancellation[]> {
  const deadline = currentTime() + REQUEST_DEADLINE_MS;
  const canceling = new Set<string>();
  for (const projectId of new Set(cancellations.map((one) => one.projectId))) {
    const state = await findProject({ projectId, version: undefined, deadline });
    if (state?.project.cancelPendingPointsOnOrderCancel === true) canceling.add(projectId);
  }
  return cancellations.filter(({ projectId }) => canceling.has(projectId));
}
