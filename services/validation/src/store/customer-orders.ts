import type { Queryable } from "@scrip/postgres";

/** Keeps orders of the customer from being brought back by events that come late. */
export async function recordDeletedCustomer(
  db: Queryable,
  { projectId, customerId }: { readonly projectId: string; readonly customerId: string },
): Promise<void> {
  await db.query(
    "insert into gone_customer (project_id, customer_id) values ($1, $2) on conflict do nothing",
    [projectId, customerId],
  );
}

/** How many orders of a project one statement looks at. */
const CHUNK = 5_000;

/** Deletes those of a customer among the orders behind one, and answers where to go on, if anywhere. */
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
