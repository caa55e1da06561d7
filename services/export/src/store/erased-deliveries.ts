import { type Queryable, walkChunks } from "@scrip/postgres";

const CHUNK = 2_000;

/** The last delivery of a chunk, by the primary key. */
type Last = { readonly webhook_id: string; readonly id: string };

/**
 * Reduces the data of deliveries that name a permanently deleted customer to the customer's id, which is all that
 * `customer.deleted` has. Scans the project, as no index finds the customer; repeatable.
 */
export async function eraseDeliveries(
  db: Queryable,
  { projectId, customerId }: { readonly projectId: string; readonly customerId: string },
): Promise<void> {
  const data = JSON.stringify({ customer: { object: "customer", id: customerId } });
  const start: Last = { webhook_id: "", id: "" };
  await walkChunks({ start, size: CHUNK }, async (after) => {
    const { rows } = await db.query<Last & { count: number }>(
      `with chunk as materialized (
         select webhook_id, id from webhook_delivery
          where project_id = $1 and (webhook_id, id) > ($2, $3)
          order by webhook_id, id
          limit ${CHUNK}
       ), erased as (
         update webhook_delivery
            set body = jsonb_set(body::jsonb, '{data}', $5::jsonb)::text
          where project_id = $1
            and (webhook_id, id) > ($2, $3)
            and (webhook_id, id) <= (
                select webhook_id, id from chunk order by webhook_id desc, id desc limit 1)
            and strpos(body, $4) > 0
            and body::jsonb -> 'data' <> $5::jsonb
       )
       select webhook_id, id, (count(*) over ())::int as count
         from chunk
        order by webhook_id desc, id desc
        limit 1`,
      [projectId, after.webhook_id, after.id, customerId, data],
    );
    const [last] = rows;
    return last && { last, count: last.count };
  });
}
