import { type Queryable, textArray } from "@scrip/postgres";

import { keyOf } from "../domain/key.ts";

export type OrderRef = { readonly projectId: string; readonly orderId: string };

const columnsOf = (orders: readonly OrderRef[]) => [
  textArray(orders.map(({ projectId }) => projectId)),
  textArray(orders.map(({ orderId }) => orderId)),
];

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

/** Stores that locked orders were canceled. Repeatable. */
export async function insertCanceledOrders(
  tx: Queryable,
  orders: readonly OrderRef[],
): Promise<void> {
  await tx.query(
    `insert into canceled_order (project_id, order_id)
     select * from unnest($1::text[], $2::text[])
         on conflict do nothing`,
    columnsOf(orders),
  );
}

/** Which of these orders were canceled, as `keyOf` of project and order. */
export async function findCanceledOrders(
  tx: Queryable,
  orders: readonly OrderRef[],
): Promise<ReadonlySet<string>> {
  const { rows } = await tx.query<{ project_id: string; order_id: string }>(
    `select project_id, order_id from canceled_order
      where (project_id, order_id) in (select * from unnest($1::text[], $2::text[]))`,
    columnsOf(orders),
  );
  return new Set(rows.map((row) => keyOf(row.project_id, row.order_id)));
}

/** Deletes some cancellations from more than 60 days ago. Accruals wait for a card for 30 days, so none can follow. */
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
