import type { Queryable } from "@scrip/postgres";

export type Webhook = {
  readonly id: string;
  readonly target_url: string;
  readonly events: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly active: boolean;
  readonly created_at: Date;
  readonly updated_at: Date | null;
};

const COLUMNS = "id, target_url, events, headers, active, created_at, updated_at";

export async function insertWebhook(
  db: Queryable,
  projectId: string,
  webhook: Omit<Webhook, "updated_at">,
): Promise<void> {
  await db.query(
    `insert into webhook (project_id, id, target_url, events, headers, active, created_at)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [
      projectId,
      webhook.id,
      webhook.target_url,
      webhook.events,
      webhook.headers,
      webhook.active,
      webhook.created_at,
    ],
  );
}

export async function countWebhooks(db: Queryable, projectId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    "select count(*)::int as count from webhook where project_id = $1 and deleted_at is null",
    [projectId],
  );
  return rows[0]?.count ?? 0;
}

export async function findWebhook(
  db: Queryable,
  projectId: string,
  id: string,
  { lock = false } = {},
): Promise<Webhook | undefined> {
  const { rows } = await db.query<Webhook>(
    `select ${COLUMNS} from webhook
      where project_id = $1 and id = $2 and deleted_at is null ${lock ? "for update" : ""}`,
    [projectId, id],
  );
  return rows[0];
}

export async function listWebhooks(
  db: Queryable,
  projectId: string,
  limit: number,
): Promise<readonly Webhook[]> {
  const { rows } = await db.query<Webhook>(
    `select ${COLUMNS} from webhook where project_id = $1 and deleted_at is null order by id desc limit $2`,
    [projectId, limit],
  );
  return rows;
}

export async function updateWebhook(
  db: Queryable,
  projectId: string,
  webhook: Webhook,
): Promise<void> {
  await db.query(
    `update webhook
        set target_url = $3, events = $4, headers = $5, active = $6, updated_at = $7
      where project_id = $1 and id = $2`,
    [
      projectId,
      webhook.id,
      webhook.target_url,
      webhook.events,
      webhook.headers,
      webhook.active,
      webhook.updated_at,
    ],
  );
}

/** Returns the secret of the project; stores `fresh` as the secret if there is none. */
export async function ensureSecret(
  db: Queryable,
  projectId: string,
  fresh: string,
): Promise<string> {
  const { rows } = await db.query<{ secret: string }>(
    `insert into webhook_secret (project_id, secret) values ($1, $2)
         on conflict (project_id) do update set secret = webhook_secret.secret
      returning secret`,
    [projectId, fresh],
  );
  return rows[0]?.secret ?? fresh;
}

export async function replaceSecret(
  db: Queryable,
  projectId: string,
  secret: string,
): Promise<void> {
  await db.query(
    `insert into webhook_secret (project_id, secret) values ($1, $2)
         on conflict (project_id) do update set secret = excluded.secret`,
    [projectId, secret],
  );
}

/** A webhook as the subscription reads it. */
export type Subscriber = {
  readonly project_id: string;
  readonly id: string;
  readonly target_url: string;
  readonly events: readonly string[];
  readonly since: Date;
};

/** Active webhooks of these projects. */
export async function findSubscribers(
  db: Queryable,
  projectIds: readonly string[],
): Promise<readonly Subscriber[]> {
  const { rows } = await db.query<Subscriber>({
    name: "webhook_subscribers",
    text: `select project_id, id, target_url, events, since
             from webhook
            where project_id = any($1::text[]) and active
            order by project_id, id`,
    values: [projectIds],
  });
  return rows;
}

/** Whether there is any webhook: without one, events are not even read. */
export async function hasWebhooks(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ exists: boolean }>(
    "select exists (select from webhook) as exists",
  );
  return rows[0]?.exists === true;
}
