import {
  boolArray,
  type Database,
  type Queryable,
  textArray,
  timestampArray,
} from "@scrip/postgres";
import { OrderStatus } from "@scrip/proto/scrip/common/v1/order_pb";

import { ORDER_PAID, ORDERS_TOPIC } from "../events/order-paid.ts";
import { columnsOf, eventColumnsOf, lastStates, type StoredOrder } from "./order-rows.ts";
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
  override: (store: (tx: Queryable) => Promise<void>) => Promise<void>,
): Promise<void> {
  const wanting = await findOutdated(db, [stored]);
  if (wanting.length > 0) await override((tx) => writeOutdated(tx, wanting));
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
    if (!knows && !(await isCustomerDeleted(db, one))) await writeOlder(db, [one], "<=");
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
  const { rows } = await db.query<{ position: bigint }>(
    `select made.position
       from unnest($1::text[], $2::text[], $3::timestamptz[], $4::bool[], $5::text[])
            with ordinality as made (project_id, id, made_at, paid, customer_id, position)
      where not exists (
            select from gone_customer as gone
             where gone.project_id = made.project_id and gone.customer_id = made.customer_id)
        and not exists (
            select from shop_order as known
             where known.project_id = made.project_id and known.id = made.id
               and known.document is not null
               and coalesce(known.updated_at, known.created_at) >= made.made_at
               and (known.paid_event_id is not null or not made.paid))`,
    [
      textArray(orders.map(({ projectId }) => projectId)),
      textArray(orders.map(({ order }) => order.id ?? null)),
      timestampArray(orders.map(({ at }) => at.getTime())),
      boolArray(orders.map(({ order }) => order.status === OrderStatus.PAID)),
      textArray(orders.map(({ order }) => order.customerId ?? null)),
    ],
  );
  return rows.flatMap(({ position }) => orders[Number(position) - 1] ?? []);
}

async function writeOlder(
  tx: Queryable,
  orders: readonly StoredOrder[],
  age: "<" | "<=" = "<",
): Promise<void> {
  await tx.query({
    name: age === "<" ? "repair_orders" : "repair_rolled_back_orders",
    text: `insert into shop_order as stored
             (project_id, id, source_id, status, customer_id, document, created_at, updated_at)
           select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[],
                                $6::bytea[], $7::timestamptz[], $8::timestamptz[])
           on conflict (project_id, id) do update
              set status = excluded.status,
                  customer_id = excluded.customer_id,
                  document = excluded.document,
                  created_at = excluded.created_at,
                  updated_at = excluded.updated_at
            where stored.document is null
               or coalesce(stored.updated_at, stored.created_at) ${age} excluded.updated_at`,
    values: columnsOf(await withoutTakenSourceIds(tx, orders)),
  });
}

/** Writes the `OrderPaid` events of orders that have none yet. */
async function insertPaidEvents(tx: Queryable, orders: readonly StoredOrder[]): Promise<void> {
  if (orders.length === 0) return;
  await tx.query(
    `with made as (
       select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bytea[])
              as made (project_id, id, paid_event_id, event_key, event)),
     marked as (
       update shop_order as stored
          set paid_event_id = made.paid_event_id
         from made
        where stored.project_id = made.project_id and stored.id = made.id
          and stored.paid_event_id is null
       returning stored.paid_event_id)
     insert into outbox (project_id, id, topic, key, type, payload)
     select made.project_id, made.paid_event_id, '${ORDERS_TOPIC}', made.event_key,
            '${ORDER_PAID}', made.event
       from made
       join marked using (paid_event_id)`,
    [
      textArray(orders.map(({ projectId }) => projectId)),
      textArray(orders.map(({ order }) => order.id ?? null)),
      ...eventColumnsOf(orders),
    ],
  );
}
