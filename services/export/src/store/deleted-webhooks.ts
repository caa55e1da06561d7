import type { Queryable } from "@scrip/postgres";

import type { WebhookKey } from "./webhook-claims.ts";

/** Rows of each table that one call deletes: a webhook may have hundreds of thousands. */
const PART = 2_000;

/** Hides a webhook from requests, and delivers nothing of it any more; false if there is none. */
export async function hideWebhook(
  db: Queryable,
  { projectId, webhookId }: WebhookKey,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update webhook set active = false, due_at = 'infinity', deleted_at = clock_timestamp()
      where project_id = $1 and id = $2 and deleted_at is null`,
    [projectId, webhookId],
  );
  return rowCount === 1;
}

/**
 * Deletes a part of the deliveries of a hidden webhook, and the webhook with the last one. Returns whether there were any.
 * The rows are found by their place: without statistics, PostgreSQL might look up their keys in an index that has only the webhook.
 */
export async function deletePartOfWebhook(
  db: Queryable,
  { projectId, webhookId }: WebhookKey,
): Promise<boolean> {
  const values = [projectId, webhookId];
  const ofWebhook = "project_id = $1 and webhook_id = $2";
  let wasAny = false;
  for (const table of ["webhook_delivery", "webhook_sequence"]) {
    const { rowCount } = await db.query(
      `delete from ${table}
        where ${ofWebhook}
          and ctid = any(array(select ctid from ${table} where ${ofWebhook} limit ${PART} for update skip locked))`,
      values,
    );
    wasAny ||= rowCount !== 0;
  }
  await db.query(
    `delete from webhook
      where project_id = $1 and id = $2 and deleted_at is not null
        and not exists (select from webhook_delivery where ${ofWebhook})
        and not exists (select from webhook_sequence where ${ofWebhook})`,
    values,
  );
  return wasAny;
}

/** Deletes what is left of hidden webhooks. */
export async function deleteHiddenWebhooks(db: Queryable): Promise<void> {
  const { rows } = await db.query<{ project_id: string; id: string }>(
    "select project_id, id from webhook where deleted_at is not null",
  );
  for (const { project_id: projectId, id: webhookId } of rows) {
    while (await deletePartOfWebhook(db, { projectId, webhookId }));
  }
}
