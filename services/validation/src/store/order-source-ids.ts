import { type Database, isUniqueViolation, type Queryable, textArray } from "@scrip/postgres";

import type { StoredOrder } from "./order-rows.ts";
import { ORDER_SOURCE_ID_INDEX, saveOrders } from "./orders.ts";

/** Writes orders as `saveOrders` does, those too whose source id is another order's by now. */
export async function saveOrdersWithFreeSourceIds(
  db: Database,
  orders: readonly StoredOrder[],
): Promise<void> {
  try {
    await saveOrders(db, orders);
  } catch (error) {
    if (!isUniqueViolation(error, ORDER_SOURCE_ID_INDEX)) throw error;
    await saveOrders(db, await withoutTakenSourceIds(db, orders));
  }
}

/**
 * The orders, without the source ids that are other orders' by now. An order goes with a customer who
 * is deleted for good, and its source id may be used again; what others did with it before may bring
 * it back.
 */
export async function withoutTakenSourceIds(
  db: Queryable,
  orders: readonly StoredOrder[],
): Promise<readonly StoredOrder[]> {
  const { rows } = await db.query<{ position: bigint }>(
    `select named.position
       from unnest($1::text[], $2::text[], $3::text[])
            with ordinality as named (project_id, id, source_id, position)
       join shop_order as other
         on other.project_id = named.project_id and other.source_id = named.source_id
        and other.id <> named.id`,
    [
      textArray(orders.map(({ projectId }) => projectId)),
      textArray(orders.map(({ order }) => order.id ?? null)),
      textArray(orders.map(({ order }) => order.sourceId ?? null)),
    ],
  );
  const taken = new Set(rows.map(({ position }) => Number(position) - 1));
  return orders.map((stored, position) => (taken.has(position) ? withoutSourceId(stored) : stored));
}

function withoutSourceId({ order, ...stored }: StoredOrder): StoredOrder {
  const { sourceId: _, ...rest } = order;
  return { ...stored, order: rest };
}
