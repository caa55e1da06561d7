import {
  batchOf,
  buildStatement,
  column,
  type ColumnTable,
  type Queryable,
  textArray,
} from "@scrip/postgres";

import { keyOf } from "../domain/key.ts";

export type OrderRef = { readonly projectId: string; readonly orderId: string };

/** An order that was canceled after its payment. */
export type CanceledOrder = OrderRef & { readonly canceledAt: number };

/**
 * Locks orders until the transaction ends, so that an accrual of an order and its cancellation see each other. Locked before
 * the cards.
 */
export async function lockOrders(tx: Queryable, orders: readonly OrderRef[]): Promise<void> {
  const keys = [...new Set(orders.map(({ projectId, orderId }) => `${projectId} ${orderId}`))];
  await tx.query(
    `select pg_advisory_xact_lock(hashtextextended('order ' || key, 0))
       from unnest($1::text[]) with ordinality as locked (key, position)
      order by position`,
    [textArray(keys.toSorted())],
  );
}

const insertStatement = buildStatement({
  parts: {
    orders: batchOf<CanceledOrder>({
      project_id: column.text(({ projectId }) => projectId),
      order_id: column.text(({ orderId }) => orderId),
      canceled_at: column.timestamp(({ canceledAt }) => canceledAt),
    } satisfies ColumnTable<CanceledOrder>),
  },
  text: ({ orders }) => `
    insert into canceled_order as known (${orders.columns})
    select ${orders.columns} from ${orders.rows("canceled")}
        on conflict (project_id, order_id) do update
       set canceled_at = excluded.canceled_at, created_at = now()
     where known.canceled_at < excluded.canceled_at
    returning project_id, order_id`,
});

/** Stores the cancellations of locked orders, and returns the keys of those that were not known. Each order occurs once. */
export async function insertCanceledOrders(
  tx: Queryable,
  orders: readonly CanceledOrder[],
): Promise<ReadonlySet<string>> {
  const { rows } = await tx.query<{ project_id: string; order_id: string }>(
    insertStatement({ orders }),
  );
  return new Set(rows.map((row) => keyOf(row.project_id, row.order_id)));
}

/** When these orders were canceled, by project and order. */
export async function findCanceledOrders(
  tx: Queryable,
  orders: readonly OrderRef[],
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await tx.query<{ project_id: string; order_id: string; canceled_at: Date }>(
    `select project_id, order_id, canceled_at from canceled_order
      where (project_id, order_id) in (select * from unnest($1::text[], $2::text[]))`,
    [
      textArray(orders.map(({ projectId }) => projectId)),
      textArray(orders.map(({ orderId }) => orderId)),
    ],
  );
  return new Map(
    rows.map((row) => [keyOf(row.project_id, row.order_id), row.canceled_at.getTime()]),
  );
}

/** Deletes some cancellations that no accrual can be behind of any more: accruals wait for a card for at most 30 days. */
export async function trimCanceledOrders(db: Queryable, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `delete from canceled_order
      where ctid in (select ctid from canceled_order
                      where created_at < now() - interval '60 days'
                      limit $1)`,
    [limit],
  );
  return rowCount ?? 0;
}
