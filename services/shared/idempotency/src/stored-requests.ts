import type { Queryable } from "@scrip/postgres";

/** How long a stored response is replayed (docs/idempotency.md#keys). */
const KEEP_HOURS = 48;

export type RequestKey = {
  readonly projectId: string;
  readonly key: string;
  readonly requestHash: Uint8Array;
};

/** The outcome of a request: its response or its error, as binary messages. */
export type Outcome =
  | { readonly kind: "response"; readonly message: Uint8Array }
  | { readonly kind: "error"; readonly error: Uint8Array };

export type StoredRequest = {
  readonly requestHash: Uint8Array;
  /** What the ids of the request's objects are derived from; null where they need not be repeatable. */
  readonly seed: string | null;
  readonly outcome: Outcome | undefined;
};

type Row = {
  request_hash: Buffer;
  seed: string | null;
  response: Buffer | null;
  error: Buffer | null;
};

/**
 * Inserts the key, or replaces one that has expired; false if the key exists. Waits for a transaction that
 * inserted the same key and has not ended.
 */
export async function insertRequest(
  db: Queryable,
  { projectId, key, requestHash }: RequestKey,
  seed: string | null,
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: "insert_idempotent_request",
    text: `insert into idempotent_request as stored (project_id, key, request_hash, seed)
           values ($1, $2, $3, $4)
               on conflict (project_id, key) do update
              set request_hash = excluded.request_hash, seed = excluded.seed, response = null,
                  error = null, created_at = excluded.created_at
            where stored.created_at < now() - interval '${KEEP_HOURS} hours'`,
    values: [projectId, key, requestHash, seed],
  });
  return rowCount === 1;
}

/** With `lock`, waits for the transaction that holds the key, and holds it until the own one ends. */
export async function findRequest(
  db: Queryable,
  { projectId, key }: RequestKey,
  { lock = false } = {},
): Promise<StoredRequest | undefined> {
  const { rows } = await db.query<Row>({
    name: lock ? "lock_idempotent_request" : "find_idempotent_request",
    planning: "indexLookups",
    text: `select request_hash, seed, response, error
             from idempotent_request
            where project_id = $1 and key = $2 ${lock ? "for no key update" : ""}`,
    values: [projectId, key],
  });
  const row = rows[0];
  return row && { requestHash: row.request_hash, seed: row.seed, outcome: outcomeOf(row) };
}

function outcomeOf({ response, error }: Row): Outcome | undefined {
  if (response !== null) return { kind: "response", message: response };
  return error === null ? undefined : { kind: "error", error };
}

/** Stores the outcome unless the key has one; returns whether it was stored. */
export async function storeOutcome(
  db: Queryable,
  { projectId, key }: RequestKey,
  outcome: Outcome,
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: "store_idempotent_outcome",
    planning: "indexLookups",
    text: `update idempotent_request
              set response = $3, error = $4
            where project_id = $1 and key = $2 and response is null and error is null`,
    values: [
      projectId,
      key,
      outcome.kind === "response" ? outcome.message : null,
      outcome.kind === "error" ? outcome.error : null,
    ],
  });
  return rowCount === 1;
}

/** Deletes a chunk of expired keys and returns their number. */
export async function deleteExpired(db: Queryable, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `delete from idempotent_request
      where (project_id, key) in (
              select project_id, key from idempotent_request
               where created_at < now() - interval '${KEEP_HOURS} hours'
               limit $1 for update skip locked)`,
    [limit],
  );
  return rowCount ?? 0;
}
