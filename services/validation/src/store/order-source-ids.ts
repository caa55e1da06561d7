import { type Database, isUniqueViolation, type Queryable, textArray } from "@scrip/postgres";

import type { StoredOrder } from "./order-rows.ts";
import { ORDER_SOURCE_ID_INDEX, saveOrders } from "./orders.ts";

/** Saves orders like `saveOrders`, and without their source id where another order has it. */
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
 * The orders, without source ids that belong to other orders by now: after the permanent deletion
 * of a customer their source ids can be reused, and a late redemption may restore the old order.
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
