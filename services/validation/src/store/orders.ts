import { fromBinary } from "@bufbuild/protobuf";
import { type TimeRange, timeRangeConditions } from "@scrip/filters";
import {
  batchOf,
  type BatchSql,
  buildStatement,
  columnNames,
  excludedAssignments,
  isUniqueViolation,
  type ProjectQueryable,
  type Queryable,
  readPage,
  unpackBytes,
} from "@scrip/postgres";
import { type Order, OrderSchema } from "@scrip/proto/scrip/common/v1/order_pb";

import { ORDER_PAID, ORDERS_TOPIC } from "../events/order-paid.ts";
import {
  lastStates,
  orderColumns,
  paidEventColumns,
  stateColumns,
  type StoredOrder,
} from "./order-rows.ts";
import { sortingOf } from "./sorting.ts";

/** Unique index that a duplicate source id violates. */
export const ORDER_SOURCE_ID_INDEX = "shop_order_project_source_id";

export type OrderKey = { readonly column: "id" | "source_id"; readonly value: string };

export async function findOrder(
  db: Queryable,
  projectId: string,
  key: OrderKey,
): Promise<Order | undefined> {
  const { rows } = await db.query<{ document: Buffer }>(
    `select document
       from shop_order
      where project_id = $1 and ${key.column} = $2 and document is not null`,
    [projectId, key.value],
  );
  return rows[0] && fromBinary(OrderSchema, unpackBytes(rows[0].document));
}

/**
 * Saves orders after redemptions or edits, and ends their claims. Writes the `OrderPaid` event in
 * the same statement the first time that an order is paid. Repeatable.
 */
export async function saveOrders(db: Queryable, orders: readonly StoredOrder[]): Promise<void> {
  await db.query(saveStatement({ orders: lastStates(orders) }));
}

/** Saves imported orders without events: one that is paid counts as announced, so that no later edit announces it. */
export async function saveImportedOrders(
  db: Queryable,
  orders: readonly StoredOrder[],
): Promise<void> {
  await db.query(saveImportedStatement({ orders: lastStates(orders) }));
}

const savedOrders = (orders: BatchSql): string => `
    with new_order as (
      select * from ${orders.rows("new_order")}
    ), saved as (
      insert into shop_order as stored (${columnNames(orderColumns)}, paid_event_id)
      select ${columnNames(orderColumns)}, paid_event_id from new_order
          on conflict (project_id, id) do update
         set ${excludedAssignments(stateColumns)},
             paid_event_id = coalesce(stored.paid_event_id, excluded.paid_event_id),
             claimed_by = null,
             claimed_process = null,
             claimed_until = null
      returning stored.paid_event_id
    )`;

const saveImportedStatement = buildStatement({
  name: "save-imported-orders",
  parts: { orders: batchOf({ ...orderColumns, ...paidEventColumns }) },
  text: ({ orders }) => `${savedOrders(orders)}
    select from saved limit 0`,
});

const saveStatement = buildStatement({
  name: "save-orders",
  planning: "indexLookups",
  parts: { orders: batchOf({ ...orderColumns, ...paidEventColumns }) },
  text: ({ orders }) => `${savedOrders(orders)}
    insert into outbox (project_id, id, topic, key, type, payload, headers)
    select new_order.project_id, new_order.paid_event_id, '${ORDERS_TOPIC}', new_order.event_key,
           '${ORDER_PAID}', new_order.event, new_order.event_headers
      from new_order
      join saved using (paid_event_id)`,
});

/** Changes the source id of a claimed order; false if another order has it. */
export async function setSourceId(
  db: Queryable,
  order: { readonly projectId: string; readonly id: string; readonly sourceId: string },
): Promise<boolean> {
  try {
    await db.query("update shop_order set source_id = $3 where project_id = $1 and id = $2", [
      order.projectId,
      order.id,
      order.sourceId,
    ]);
    return true;
  } catch (error) {
    if (isUniqueViolation(error, ORDER_SOURCE_ID_INDEX)) return false;
    throw error;
  }
}

/** Whether the order was ever PAID. */
export async function wasPaid(
  db: Queryable,
  { projectId, id }: { readonly projectId: string; readonly id: string },
): Promise<boolean> {
  const { rows } = await db.query(
    "select from shop_order where project_id = $1 and id = $2 and paid_event_id is not null",
    [projectId, id],
  );
  return rows.length > 0;
}

const SORTABLE: Readonly<Record<string, string>> = {
  created_at: "created_at",
  updated_at: "updated_at",
  status: "status",
};

export type Listing = {
  readonly projectId: string;
  readonly created: TimeRange;
  /** Sort column; a leading `-` sorts descending. */
  readonly order: string;
  readonly limit: number;
  readonly offset: number;
};

/** One page of packed orders, and the total number of orders. Ties are sorted by id. */
export async function listOrders(
  db: ProjectQueryable,
  { projectId, created, order, limit, offset }: Listing,
): Promise<{ readonly documents: readonly Uint8Array[]; readonly total: bigint }> {
  const values: unknown[] = [projectId];
  const conditions = [
    "project_id = $1",
    "document is not null",
    ...timeRangeConditions("created_at", created, values),
  ];
  const { rows, total } = await readPage<{ document: Buffer }>(db, {
    projectId,
    columns: "document",
    from: `from shop_order where ${conditions.join(" and ")}`,
    order: sortingOf(order, SORTABLE),
    values,
    limit,
    offset,
  });
  return { documents: rows.map(({ document }) => document), total };
}

export const unpackOrder = (document: Uint8Array): Order =>
  fromBinary(OrderSchema, unpackBytes(document));
