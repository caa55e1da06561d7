import { type Database, type Queryable, textArray } from "@scrip/postgres";

export type WebhookKey = { readonly projectId: string; readonly webhookId: string };

export type ClaimedDelivery = {
  readonly project_id: string;
  readonly webhook_id: string;
  readonly id: string;
  readonly body: string;
  readonly attempts: number;
  readonly failed_attempts: number;
  readonly target_url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly secret: string | null;
};

/** SQL: a webhook with deliveries that are due, as its index has it. */
const IS_DUE = "active and due_at <= clock_timestamp() and due_at < 'infinity'";

/** Whether a webhook has deliveries that are due. */
export async function hasDueDeliveries(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ due: boolean }>({
    name: "webhook_has_due",
    text: `select exists (select from webhook where ${IS_DUE}) as due`,
    values: [],
  });
  return rows[0]?.due ?? false;
}

/**
 * Claims due deliveries, oldest first, at most `perWebhook` of each of at most `webhooks` webhooks that are not in
 * `busy`. Those of bulk work get one place in `BULK_SHARE`, and the places that others leave, so neither waits for all of
 * the other if `perWebhook` is at least `BULK_SHARE`. After `leaseMs` without a result, another process may repeat them.
 *
 * The webhooks are locked by a statement of their own: the next one sees all deliveries that were stored before, which a
 * single statement would overlook, and then compute a time at which the webhook is due without them.
 */
export const claimDeliveries = (
  db: Pick<Database, "transaction">,
  claim: Claim,
): Promise<readonly ClaimedDelivery[]> =>
  db.transaction(async (tx) => {
    const due = await lockDueWebhooks(tx, claim);
    return due.length === 0 ? [] : claimOf(tx, due, claim);
  });

type Claim = {
  readonly webhooks: number;
  readonly perWebhook: number;
  readonly busy: readonly string[];
  readonly leaseMs: number;
};

async function lockDueWebhooks(
  tx: Queryable,
  { webhooks, busy }: Claim,
): Promise<readonly WebhookKey[]> {
  const { rows } = await tx.query<{ project_id: string; id: string }>({
    name: "webhook_lock_due",
    text: `select project_id, id
             from webhook
            where ${IS_DUE} and not id = any($2::text[])
            order by due_at
            limit $1
              for update skip locked`,
    values: [webhooks, busy],
  });
  return rows.map((row) => ({ projectId: row.project_id, webhookId: row.id }));
}

/** Of the places for deliveries of a webhook, one of so many is for bulk work. */
const BULK_SHARE = 4;

/** SQL: due deliveries of a webhook of one kind, with what decides about their places. */
const dueOf = (kind: string, place: string): string => `
  (select project_id, webhook_id, id, ${place} as place
     from (select project_id, webhook_id, id, next_attempt_at
             from webhook_delivery
            where project_id = due.project_id and webhook_id = due.id and status = 'PENDING' and ${kind}
              and next_attempt_at <= clock_timestamp()
            order by next_attempt_at
            limit $3) as of_kind)`;

/** SQL: when the first delivery of a webhook of one kind is due that is not claimed now. */
const firstOf = (kind: string): string => `
  (select next_attempt_at
     from webhook_delivery as waiting
    where waiting.project_id = due.project_id and waiting.webhook_id = due.id and waiting.status = 'PENDING' and ${kind}
      and not exists (select from picked where picked.id = waiting.id)
    order by next_attempt_at
    limit 1)`;

async function claimOf(
  tx: Queryable,
  due: readonly WebhookKey[],
  { perWebhook, leaseMs }: Claim,
): Promise<readonly ClaimedDelivery[]> {
  const { rows } = await tx.query<ClaimedDelivery>({
    name: "webhook_claim",
    planning: "indexLookups",
    text: `with due as materialized (
             select project_id, id, target_url, headers
               from webhook
              where (project_id, id) in (select * from unnest($1::text[], $2::text[]))),
           picked as materialized (
             select delivery.project_id, delivery.webhook_id, delivery.id
               from due
              cross join lateral (
                    select project_id, webhook_id, id
                      from (${dueOf("not bulk", `row_number() over (order by next_attempt_at) * ${BULK_SHARE}`)}
                             union all
                            ${dueOf("bulk", `row_number() over (order by next_attempt_at) * ${BULK_SHARE * (BULK_SHARE - 1)} + 1`)}) as both_kinds
                     order by place
                     limit $3) as delivery),
           claimed as (
             update webhook_delivery as delivery
                set next_attempt_at = clock_timestamp() + $4 * interval '1 millisecond',
                    attempts = attempts + 1
               from picked
              where delivery.project_id = picked.project_id
                and delivery.webhook_id = picked.webhook_id
                and delivery.id = picked.id
          returning delivery.project_id, delivery.webhook_id, delivery.id, delivery.body, delivery.attempts,
                    delivery.failed_attempts),
           rescheduled as (
             update webhook
                set due_at = least(
                      ${firstOf("not bulk")},
                      ${firstOf("bulk")},
                      (select clock_timestamp() + $4 * interval '1 millisecond'
                         from picked where picked.webhook_id = due.id limit 1),
                      'infinity')
               from due
              where webhook.project_id = due.project_id and webhook.id = due.id)
           select claimed.*, due.target_url, due.headers, webhook_secret.secret
             from claimed
             join due on due.project_id = claimed.project_id and due.id = claimed.webhook_id
             left join webhook_secret on webhook_secret.project_id = claimed.project_id
            order by claimed.id`,
    values: [
      textArray(due.map(({ projectId }) => projectId)),
      textArray(due.map(({ webhookId }) => webhookId)),
      perWebhook,
      leaseMs,
    ],
  });
  return rows;
}
