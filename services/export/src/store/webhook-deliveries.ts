import { type TimeRange, timeRangeConditions } from "@scrip/filters";
import { boolArray, type ProjectQueryable, type Queryable, textArray } from "@scrip/postgres";

import type { ClaimedDelivery, WebhookKey } from "./webhook-claims.ts";

export type DeliveryStatus = "PENDING" | "SUCCEEDED" | "FAILED";

/** An event for one webhook, before its number in the sequence of its aggregate is known. */
export type NewDelivery = {
  readonly projectId: string;
  readonly webhookId: string;
  readonly id: string;
  readonly type: string;
  readonly eventId: string;
  readonly aggregateId: string;
  readonly createdAt: Date;
  /** Whether it may be sent behind other deliveries of the webhook. */
  readonly isBulk: boolean;
  readonly bodyOf: (sequence: bigint) => string;
};

/**
 * Stores deliveries, numbered per webhook and aggregate in their order, and makes their webhooks due. Events that
 * their webhook has received already are skipped and leave no gap. Call it in a transaction.
 */
export async function insertDeliveries(
  tx: Queryable,
  deliveries: readonly NewDelivery[],
): Promise<void> {
  const existing = await lockWebhooks(tx, deliveries);
  const fresh = await withoutRepeats(
    tx,
    deliveries.filter((each) => existing.has(webhookKey(each))),
  );
  if (fresh.length === 0) return;
  const numbered = await number(tx, fresh);
  await tx.query({
    name: "webhook_delivery_insert",
    text: `insert into webhook_delivery
                  (project_id, webhook_id, id, type, event_id, aggregate_id, sequence, body, created_at,
                   bulk, next_attempt_at)
           select *, clock_timestamp()
             from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[],
                         $8::text[], $9::timestamptz[], $10::bool[])`,
    values: [
      textArray(numbered.map(({ projectId }) => projectId)),
      textArray(numbered.map(({ webhookId }) => webhookId)),
      textArray(numbered.map(({ id }) => id)),
      textArray(numbered.map(({ type }) => type)),
      textArray(numbered.map(({ eventId }) => eventId)),
      textArray(numbered.map(({ aggregateId }) => aggregateId)),
      numbered.map(({ sequence }) => sequence),
      textArray(numbered.map(({ sequence, bodyOf }) => bodyOf(sequence))),
      numbered.map(({ createdAt }) => createdAt),
      boolArray(numbered.map(({ isBulk }) => isBulk)),
    ],
  });
  await promoteEarlier(
    tx,
    numbered.filter(({ isBulk, sequence }) => !isBulk && sequence > 1n),
  );
  await makeDue(tx, fresh);
}

/** Deliveries of an aggregate that a statement promotes. */
const MAX_PROMOTED = 100;

/** Earlier deliveries of the same aggregates are no longer bulk: otherwise those that follow them would be sent first. */
async function promoteEarlier(tx: Queryable, deliveries: readonly NewDelivery[]): Promise<void> {
  if (deliveries.length === 0) return;
  const values = [
    textArray(deliveries.map(({ projectId }) => projectId)),
    textArray(deliveries.map(({ webhookId }) => webhookId)),
    textArray(deliveries.map(({ aggregateId }) => aggregateId)),
  ];
  for (let promoted = MAX_PROMOTED; promoted >= MAX_PROMOTED;) {
    const { rowCount } = await tx.query({
      name: "webhook_delivery_promote",
      text: `with earlier as materialized (
             select of_aggregate.*
               from unnest($1::text[], $2::text[], $3::text[]) as later (project_id, webhook_id, aggregate_id)
              cross join lateral (
                    select project_id, webhook_id, id
                      from webhook_delivery
                     where (project_id, webhook_id, aggregate_id) >= (later.project_id, later.webhook_id, later.aggregate_id)
                       and (project_id, webhook_id, aggregate_id) <= (later.project_id, later.webhook_id, later.aggregate_id)
                       and status = 'PENDING' and bulk
                     order by project_id, webhook_id, aggregate_id, sequence
                     limit ${MAX_PROMOTED}) as of_aggregate)
           update webhook_delivery as delivery
              set bulk = false
             from earlier
            where delivery.project_id = earlier.project_id and delivery.webhook_id = earlier.webhook_id
              and delivery.id = earlier.id`,
      planning: "indexLookups",
      values,
    });
    promoted = rowCount ?? 0;
  }
}

const webhookKey = ({ projectId, webhookId }: WebhookKey): string => `${projectId}\n${webhookId}`;

const aggregateKey = (delivery: NewDelivery): string =>
  `${webhookKey(delivery)}\n${delivery.aggregateId}`;

/**
 * Locks the webhooks in one order and returns those that exist. Until the transaction ends, no other one numbers
 * deliveries of them, and no process finds them without due deliveries.
 */
async function lockWebhooks(
  tx: Queryable,
  deliveries: readonly NewDelivery[],
): Promise<ReadonlySet<string>> {
  const { rows } = await tx.query<{ project_id: string; id: string }>({
    name: "webhook_lock",
    text: `select project_id, id
             from webhook
            where (project_id, id) in (select * from unnest($1::text[], $2::text[])) and deleted_at is null
            order by project_id, id
              for no key update`,
    values: [
      textArray(deliveries.map(({ projectId }) => projectId)),
      textArray(deliveries.map(({ webhookId }) => webhookId)),
    ],
  });
  return new Set(rows.map((row) => webhookKey({ projectId: row.project_id, webhookId: row.id })));
}

/**
 * Without those that are stored already, or twice in the batch. It reads the first entry from each key on, which only the index of
 * the events has in order: for a comparison, PostgreSQL would read all deliveries of a webhook by another index as long as it has no statistics.
 */
async function withoutRepeats(
  tx: Queryable,
  deliveries: readonly NewDelivery[],
): Promise<readonly NewDelivery[]> {
  const { rows } = await tx.query<{ number: number }>({
    name: "webhook_delivery_fresh",
    text: `select min(number)::int as number
             from unnest($1::text[], $2::text[], $3::text[], $4::text[]) with ordinality
                  as candidate (project_id, webhook_id, event_id, type, number)
             left join lateral (
                  select stored.project_id, stored.webhook_id, stored.event_id, stored.type
                    from webhook_delivery as stored
                   where (stored.project_id, stored.webhook_id, stored.event_id, stored.type)
                         >= (candidate.project_id, candidate.webhook_id, candidate.event_id, candidate.type)
                   order by stored.project_id, stored.webhook_id, stored.event_id, stored.type
                   limit 1) as next on true
            where (next.project_id, next.webhook_id, next.event_id, next.type)
                  is distinct from (candidate.project_id, candidate.webhook_id, candidate.event_id, candidate.type)
            group by candidate.project_id, candidate.webhook_id, candidate.event_id, candidate.type
            order by number`,
    planning: "indexLookups",
    values: [
      textArray(deliveries.map(({ projectId }) => projectId)),
      textArray(deliveries.map(({ webhookId }) => webhookId)),
      textArray(deliveries.map(({ eventId }) => eventId)),
      textArray(deliveries.map(({ type }) => type)),
    ],
  });
  return rows.flatMap((row) => deliveries[row.number - 1] ?? []);
}

async function number(
  tx: Queryable,
  deliveries: readonly NewDelivery[],
): Promise<readonly (NewDelivery & { readonly sequence: bigint })[]> {
  const groups = Map.groupBy(deliveries, aggregateKey);
  const heads = [...groups.values()].flatMap(([first]) => first ?? []);
  const { rows } = await tx.query<{
    project_id: string;
    webhook_id: string;
    aggregate_id: string;
    last: bigint;
  }>({
    name: "webhook_sequence_advance",
    text: `insert into webhook_sequence as counter (project_id, webhook_id, aggregate_id, last)
           select * from unnest($1::text[], $2::text[], $3::text[], $4::bigint[])
               on conflict (project_id, webhook_id, aggregate_id)
               do update set last = counter.last + excluded.last
        returning project_id, webhook_id, aggregate_id, last`,
    values: [
      textArray(heads.map(({ projectId }) => projectId)),
      textArray(heads.map(({ webhookId }) => webhookId)),
      textArray(heads.map(({ aggregateId }) => aggregateId)),
      [...groups.values()].map((group) => BigInt(group.length)),
    ],
  });
  const lasts = new Map(
    rows.map((row) => [`${row.project_id}\n${row.webhook_id}\n${row.aggregate_id}`, row.last]),
  );
  return [...groups].flatMap(([key, group]) => {
    const first = (lasts.get(key) ?? 0n) - BigInt(group.length) + 1n;
    return group.map((delivery, index) => ({ ...delivery, sequence: first + BigInt(index) }));
  });
}

async function makeDue(tx: Queryable, deliveries: readonly NewDelivery[]): Promise<void> {
  await tx.query({
    name: "webhook_due",
    text: `update webhook
              set due_at = least(due_at, clock_timestamp())
            where (project_id, id) in (select * from unnest($1::text[], $2::text[]))`,
    values: [
      textArray(deliveries.map(({ projectId }) => projectId)),
      textArray(deliveries.map(({ webhookId }) => webhookId)),
    ],
  });
}

export type AttemptResult = {
  readonly responseStatus: number | null;
  readonly error: string | null;
  readonly durationMs: number;
};

/**
 * Stores the result of an attempt. `retryMs`: pause before the next one; undefined: there is none. A delivery that
 * fails for good makes its webhook inactive. Nothing happens if another process has claimed the delivery since.
 *
 * A failure changes the webhook, too, and locks it first, as `insertDeliveries` does.
 */
export async function storeAttempt(
  db: Queryable,
  delivery: ClaimedDelivery,
  { responseStatus, error, durationMs }: AttemptResult,
  retryMs: number | undefined,
): Promise<void> {
  const status = error === null ? "SUCCEEDED" : retryMs === undefined ? "FAILED" : "PENDING";
  await db.query({
    name: "webhook_attempt",
    planning: "indexLookups",
    text: `with failing as materialized (
             select from webhook
              where project_id = $1 and id = $2 and $5 <> 'SUCCEEDED'
                for no key update),
           stored as (
             update webhook_delivery
                set status = $5,
                    next_attempt_at = case $5 when 'PENDING' then
                                        statement_timestamp() + $6 * interval '1 millisecond' end,
                    failed_attempts = failed_attempts + case when $8::text is null then 0 else 1 end,
                    last_attempt_at = statement_timestamp(), response_status = $7, error = $8, duration_ms = $9
              where project_id = $1 and webhook_id = $2 and id = $3 and attempts = $4 and next_attempt_at is not null
                and ($5 = 'SUCCEEDED' or exists (select from failing))
          returning project_id, webhook_id, status, next_attempt_at)
           update webhook
              set active = webhook.active and stored.status <> 'FAILED',
                  due_at = least(webhook.due_at, stored.next_attempt_at)
             from stored
            where webhook.project_id = stored.project_id and webhook.id = stored.webhook_id
              and stored.status <> 'SUCCEEDED'`,
    values: [
      delivery.project_id,
      delivery.webhook_id,
      delivery.id,
      delivery.attempts,
      status,
      retryMs ?? 0,
      responseStatus,
      error,
      durationMs,
    ],
  });
}

export type StoredDelivery = {
  readonly id: string;
  readonly webhook_id: string;
  readonly type: string;
  readonly event_id: string;
  readonly aggregate_id: string;
  readonly sequence: bigint;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly next_attempt_at: Date | null;
  readonly last_attempt_at: Date | null;
  readonly response_status: number | null;
  readonly error: string | null;
  readonly duration_ms: number | null;
  readonly created_at: Date;
  readonly body: string | null;
};

const COLUMNS = `id, webhook_id, type, event_id, aggregate_id, sequence, status, attempts, next_attempt_at,
  last_attempt_at, response_status, error, duration_ms, created_at`;

export type DeliveryFilter = {
  readonly projectId: string;
  readonly webhookId: string;
  readonly status: string | undefined;
  readonly createdAt: TimeRange | undefined;
  readonly after: string;
  readonly limit: number;
};

export async function listDeliveries(
  db: ProjectQueryable,
  { projectId, webhookId, status, createdAt, after, limit }: DeliveryFilter,
): Promise<readonly StoredDelivery[]> {
  const values: unknown[] = [projectId, webhookId, after, status ?? null, limit];
  const conditions = [
    "project_id = $1 and webhook_id = $2",
    "($3 = '' or id < $3)",
    "($4::text is null or status = $4)",
    ...timeRangeConditions("created_at", createdAt, values),
  ];
  const { rows } = await db.inProject(projectId).query<StoredDelivery>(
    `select ${COLUMNS}, null as body
       from webhook_delivery
      where ${conditions.join(" and ")}
      order by id desc
      limit $5`,
    values,
  );
  return rows;
}

export async function findDelivery(
  db: Queryable,
  projectId: string,
  webhookId: string,
  id: string,
): Promise<StoredDelivery | undefined> {
  const { rows } = await db.query<StoredDelivery>(
    `select ${COLUMNS}, body
       from webhook_delivery
      where project_id = $1 and webhook_id = $2 and id = $3`,
    [projectId, webhookId, id],
  );
  return rows[0];
}

export type Replay = {
  readonly projectId: string;
  readonly webhookId: string;
  readonly since: Date;
  readonly until: Date | null;
  readonly limit: number;
};

/** Makes deliveries pending again, due in the order of their creation, as bulk work: new ones do not wait for them. Returns the times of those that were changed. */
export async function replayDeliveries(
  tx: Queryable,
  { projectId, webhookId, since, until, limit }: Replay,
): Promise<readonly Date[]> {
  const { rows } = await tx.query<{ created_at: Date }>(
    `with chosen as materialized (
       select project_id, webhook_id, id, created_at
         from webhook_delivery
        where project_id = $1 and webhook_id = $2
          and created_at >= $3 and created_at < coalesce($4::timestamptz, 'infinity')
        order by created_at, id
        limit $5
          for update),
          numbered as (
       select *, row_number() over (order by created_at, id) as number from chosen)
     update webhook_delivery as delivery
        set status = 'PENDING', failed_attempts = 0, bulk = true,
            next_attempt_at = statement_timestamp() - ($5 - number) * interval '1 microsecond'
       from numbered as chosen
      where delivery.project_id = chosen.project_id
        and delivery.webhook_id = chosen.webhook_id
        and delivery.id = chosen.id
  returning delivery.created_at`,
    [projectId, webhookId, since, until, limit],
  );
  await tx.query(
    "update webhook set due_at = clock_timestamp() where project_id = $1 and id = $2",
    [projectId, webhookId],
  );
  return rows.map(({ created_at: at }) => at);
}

const TRIM_CHUNK = 5_000;

/** Deletes deliveries that were created more than `keepMs` ago, in short statements. */
export async function trimDeliveries(db: Queryable, keepMs: number): Promise<void> {
  for (;;) {
    const { rowCount } = await db.query(
      `delete from webhook_delivery
        where ctid = any(array(
              select ctid from webhook_delivery
               where created_at < clock_timestamp() - $1 * interval '1 millisecond'
               limit $2
                 for update skip locked))`,
      [keepMs, TRIM_CHUNK],
    );
    if ((rowCount ?? 0) < TRIM_CHUNK) return;
  }
}
