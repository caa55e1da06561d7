import type { Queryable } from "@scrip/postgres";

/** Records a permanently deleted customer, so that late events do not restore their orders. */
export async function recordDeletedCustomer(
  db: Queryable,
  { projectId, customerId }: { readonly projectId: string; readonly customerId: string },
): Promise<void> {
  await db.query(
    "insert into gone_customer (project_id, customer_id) values ($1, $2) on conflict do nothing",
    [projectId, customerId],
  );
}

/** Number of orders that one statement scans. */
const CHUNK = 5_000;

/**
 * Deletes the customer's orders among the next orders behind `after`. Returns the id to continue
 * behind, or null at the end.
 */
export async function deleteOrdersOfCustomer(
  db: Queryable,
  {
    projectId,
    customerId,
    after,
  }: { readonly projectId: string; readonly customerId: string; readonly after: string },
): Promise<string | null> {
  const { rows } = await db.query<{ last: string | null; count: bigint }>(
    `with looked_at as (
       select id, customer_id from shop_order
        where project_id = $1 and id > $3
        order by id
        limit ${CHUNK}
     ), deleted as (
       delete from shop_order
        where project_id = $1
          and id in (select id from looked_at where customer_id = $2)
     )
     select max(id) as last, count(*) as count from looked_at`,
    [projectId, customerId, after],
  );
  const [looked] = rows;
  return looked === undefined || looked.count < BigInt(CHUNK) ? null : looked.last;
}
