import type { Queryable } from "@scrip/postgres";

export type ChangedCustomer = { readonly projectId: string; readonly customerId: string };

/**
 * SQL that queues the customers of `rows`, a part of the statement that writes them, whose column `id` has their ids. It
 * queues none in projects without followed segments, which a lookup in a small index tells.
 */
export const queueChangedSql = (rows: string, id: string): string => `
  insert into changed_customer (project_id, customer_id)
  select project_id, ${id}
    from ${rows}
   where (select true
            from segment
           where segment.project_id = ${rows}.project_id and segment.sync_status is not null
           limit 1)`;

/** Removes changes of customers of any projects from the queue, at most `limit`; returns their customers, each once. */
export async function takeChangedCustomers(
  tx: Queryable,
  limit: number,
): Promise<readonly ChangedCustomer[]> {
  const { rows } = await tx.query<{ project_id: string; customer_id: string }>(
    `with taken as (
       delete from changed_customer
        where (project_id, id) in (
              select project_id, id from changed_customer limit $1 for update skip locked)
       returning project_id, customer_id
     )
     select distinct project_id, customer_id from taken`,
    [limit],
  );
  return rows.map((row) => ({ projectId: row.project_id, customerId: row.customer_id }));
}
