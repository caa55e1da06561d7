import { fromBinary } from "@bufbuild/protobuf";
import { enqueue } from "@scrip/events";
import { newId } from "@scrip/ids";
import {
  batchOf,
  buildStatement,
  column,
  type Database,
  excludedAssignments,
  type Queryable,
  unpackBytes,
} from "@scrip/postgres";
import { type Order, OrderSchema, OrderStatus } from "@scrip/proto/scrip/common/v1/order_pb";

import { orderEdited } from "../events/order-edited.ts";
import { ORDER_PAID, ORDERS_TOPIC } from "../events/order-paid.ts";
import {
  lastStates,
  orderColumns,
  paidEventColumns,
  stateColumns,
  type StoredOrder,
} from "./order-rows.ts";
import { withoutTakenSourceIds } from "./order-source-ids.ts";
import { findOrder } from "./orders.ts";

/**
 * Writes orders that are missing or older than their redemption, and the events of paid orders that
 * have none. A claimed order is left to its claimant, which may be calculating on it. Repeatable.
 */
export async function repairOrders(db: Database, orders: readonly StoredOrder[]): Promise<void> {
  const wanting = await findOutdated(db, lastStates(orders));
  if (wanting.length > 0) await db.transaction((tx) => writeOutdated(tx, wanting));
}

/** Repairs an order with overrides: catalogue and order are written in one transaction. */
export async function repairOverridingOrder(
  db: Queryable,
  stored: StoredOrder,
  override: (
    store: (tx: Queryable, withCatalogueIds: (order: Order) => Order) => Promise<void>,
  ) => Promise<void>,
): Promise<void> {
  const wanting = await findOutdated(db, [stored]);
  if (wanting.length === 0) return;
  await override((tx, withCatalogueIds) =>
    writeOutdated(tx, [{ ...stored, order: withCatalogueIds(stored.order) }]),
  );
}

async function writeOutdated(tx: Queryable, wanting: readonly StoredOrder[]): Promise<void> {
  await writeOlder(tx, wanting);
  await insertPaidEvents(
    tx,
    wanting.filter(({ order }) => order.status === OrderStatus.PAID),
  );
}

/**
 * Writes orders of rollbacks that are not stored yet. They are recognised by the rollback's entry
 * in the order, since a redemption and its rollback may have the same date. Repeatable.
 */
export async function repairRolledBackOrders(
  db: Queryable,
  orders: readonly StoredOrder[],
): Promise<void> {
  for (const one of orders) {
    const { projectId, order } = one;
    const stored = await findOrder(db, projectId, { column: "id", value: order.id ?? "" });
    const knows = Object.entries(order.redemptions).every(
      ([id, { rollbackId }]) =>
        rollbackId === undefined || stored?.redemptions[id]?.rollbackId === rollbackId,
    );
    if (!knows && !(await isCustomerDeleted(db, one)))
      await writeOlder(db, [one], writeRolledBackStatement);
  }
}

async function isCustomerDeleted(
  db: Queryable,
  { projectId, order }: StoredOrder,
): Promise<boolean> {
  if (order.customerId === undefined) return false;
  const { rows } = await db.query(
    "select from gone_customer where project_id = $1 and customer_id = $2",
    [projectId, order.customerId],
  );
  return rows.length > 0;
}

/**
 * Statements that join the table are not prepared by name: a plan cached while the table was small
 * would scan all orders for each batch of events.
 */

/**
 * Orders that are stored in an older state or not at all, or are paid without an event. Orders of
 * permanently deleted customers are omitted.
 */
async function findOutdated(
  db: Queryable,
  orders: readonly StoredOrder[],
): Promise<readonly StoredOrder[]> {
  const { rows } = await db.query<{ position: bigint }>(findOutdatedStatement({ orders }));
  return rows.flatMap(({ position }) => orders[Number(position) - 1] ?? []);
}

const findOutdatedStatement = buildStatement({
  parts: {
    orders: batchOf<StoredOrder>({
      project_id: column.text(({ projectId }) => projectId),
      id: column.text(({ order }) => order.id ?? null),
      made_at: column.timestamp(({ at }) => at.getTime()),
      paid: column.bool(({ order }) => order.status === OrderStatus.PAID),
      customer_id: column.text(({ order }) => order.customerId ?? null),
    }),
  },
  text: ({ orders }) => `
    select repaired.position
      from ${orders.numberedRows("repaired")}
     where not exists (
           select from gone_customer as deleted
            where deleted.project_id = repaired.project_id and deleted.customer_id = repaired.customer_id)
       and not exists (
           select from shop_order as existing
            where existing.project_id = repaired.project_id and existing.id = repaired.id
              and existing.document is not null
              and coalesce(existing.updated_at, existing.created_at) >= repaired.made_at
              and (existing.paid_event_id is not null or not repaired.paid))`,
});

const writeOlder = async (
  tx: Queryable,
  orders: readonly StoredOrder[],
  write: typeof writeOlderStatement = writeOlderStatement,
): Promise<void> => {
  await tx.query(write({ orders: await withoutTakenSourceIds(tx, orders) }));
};

const buildWriteOlder = (name: string, age: "<" | "<=") =>
  buildStatement({
    name,
    parts: { orders: batchOf(orderColumns) },
    text: ({ orders }) => `
      insert into shop_order as stored (${orders.columns})
      select ${orders.columns} from ${orders.rows("repaired")}
          on conflict (project_id, id) do update
         set ${excludedAssignments(stateColumns)}
       where stored.document is null
          or coalesce(stored.updated_at, stored.created_at) ${age} excluded.updated_at`,
  });

const writeOlderStatement = buildWriteOlder("repair-orders", "<");
const writeRolledBackStatement = buildWriteOlder("repair-rolled-back-orders", "<=");

/**
 * Writes the `OrderPaid` events of orders that have none yet. The edit that canceled such an order did not know of the
 * payment, so its cancellation is published here, in projects that cancel the pending points of these orders.
 */
async function insertPaidEvents(tx: Queryable, orders: readonly StoredOrder[]): Promise<void> {
  if (orders.length === 0) return;
  const { rows } = await tx.query<CanceledRow>(paidEventsStatement({ orders }));
  const canceled = rows.map(({ project_id: projectId, document, updated_at: updatedAt }) =>
    orderEdited(newId("event"), {
      projectId,
      order: fromBinary(OrderSchema, unpackBytes(document)),
      at: updatedAt.getTime(),
      cancelsPaidOrder: true,
    }),
  );
  await enqueue(tx, canceled, undefined);
}

type CanceledRow = { project_id: string; document: Buffer; updated_at: Date };

const paidEventsStatement = buildStatement({
  parts: {
    orders: batchOf<StoredOrder>({
      project_id: column.text(({ projectId }) => projectId),
      id: column.text(({ order }) => order.id ?? null),
      ...paidEventColumns,
    }),
  },
  text: ({ orders }) => `
    with repaired as (
      select * from ${orders.rows("repaired")}
    ), marked as (
      update shop_order as stored
         set paid_event_id = repaired.paid_event_id
        from repaired
       where stored.project_id = repaired.project_id and stored.id = repaired.id
         and stored.paid_event_id is null
      returning stored.*
    ), announced as (
      insert into outbox (project_id, id, topic, key, type, payload, headers)
      select repaired.project_id, repaired.paid_event_id, '${ORDERS_TOPIC}', repaired.event_key,
             '${ORDER_PAID}', repaired.event, repaired.event_headers
        from repaired
        join marked using (paid_event_id)
    )
    select project_id, marked.document, marked.updated_at
      from marked
      join project using (project_id)
     where marked.status = 'CANCELED' and project.cancel_pending_points_on_order_cancel`,
});
