import type { Queryable } from "@scrip/postgres";

/** Work that waits, in all processes. */
export type Backlog = {
  /** Jobs that have not ended. */
  readonly jobs: number;
  /** Age of the oldest of them; 0 without any. */
  readonly oldestJobSeconds: number;
  /** Deliveries that are due, of active webhooks. */
  readonly deliveries: number;
  /** How long the oldest of them has been due; 0 without any. */
  readonly oldestDeliverySeconds: number;
};

/** Counted up to this number. */
const LIMIT = 100_000;

export async function findBacklog(db: Queryable): Promise<Backlog> {
  const { rows } = await db.query<{
    jobs: number;
    job_age: number;
    deliveries: number;
    delivery_age: number;
  }>({
    name: "export_backlog",
    text: `with waiting as materialized (
             select enqueued_at from job where status in ('ENQUEUED', 'IN_PROGRESS') limit ${LIMIT}),
           due as materialized (
             select delivery.next_attempt_at
               from webhook
               join webhook_delivery as delivery
                 on delivery.project_id = webhook.project_id and delivery.webhook_id = webhook.id
              where webhook.active and webhook.due_at <= clock_timestamp()
                and delivery.status = 'PENDING' and delivery.next_attempt_at <= clock_timestamp()
              limit ${LIMIT})
           select (select count(*)::int from waiting) as jobs,
                  (select coalesce(extract(epoch from clock_timestamp() - min(enqueued_at)), 0)::float8
                     from waiting) as job_age,
                  (select count(*)::int from due) as deliveries,
                  (select coalesce(extract(epoch from clock_timestamp() - min(next_attempt_at)), 0)::float8
                     from due) as delivery_age`,
    values: [],
  });
  const [row] = rows;
  return {
    jobs: row?.jobs ?? 0,
    oldestJobSeconds: row?.job_age ?? 0,
    deliveries: row?.deliveries ?? 0,
    oldestDeliverySeconds: row?.delivery_age ?? 0,
  };
}
