import type { Queryable } from "@scrip/postgres";

/** Identifies a request that may be repeated. */
export type RequestKey = {
  readonly projectId: string;
  readonly scopedKey: string;
  readonly requestHash: Uint8Array;
};

/** A response that is replayed byte for byte. */
export type StoredResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
};

export type BeginResult =
  | { readonly kind: "begun"; readonly attempt: number }
  | { readonly kind: "finished"; readonly response: StoredResponse }
  | { readonly kind: "in_flight" }
  | { readonly kind: "reused" };

type Row = {
  request_hash: Buffer;
  status: number | null;
  headers: Record<string, string> | null;
  body: Buffer | null;
};

/**
 * Claims a key for a request, unless another request holds it. Rows whose lock has expired belong
 * to a process that died; they are claimed again, as expired rows are.
 */
export async function beginRequest(
  db: Queryable,
  key: RequestKey,
  times: { readonly lockSeconds: number; readonly keepSeconds: number },
): Promise<BeginResult> {
  const { rows } = await db.query<{ attempt: number }>(
    `insert into idempotency (project_id, scoped_key, request_hash, locked_until, expires_at)
     values ($1, $2, $3, now() + make_interval(secs => $4), now() + make_interval(secs => $5))
         on conflict (project_id, scoped_key) do update
        set request_hash = excluded.request_hash, attempt = idempotency.attempt + 1,
            locked_until = excluded.locked_until, expires_at = excluded.expires_at,
            status = null, headers = null, body = null
      where idempotency.expires_at < now()
         or (idempotency.status is null and idempotency.locked_until < now()
             and idempotency.request_hash = excluded.request_hash)
     returning attempt`,
    [key.projectId, key.scopedKey, key.requestHash, times.lockSeconds, times.keepSeconds],
  );
  const begun = rows[0];
  return begun === undefined ? findResponse(db, key) : { kind: "begun", attempt: begun.attempt };
}

async function findResponse(db: Queryable, key: RequestKey): Promise<BeginResult> {
  const { rows } = await db.query<Row>(
    `select request_hash, status, headers, body
       from idempotency
      where project_id = $1 and scoped_key = $2`,
    [key.projectId, key.scopedKey],
  );
  const row = rows[0];
  // The row was released concurrently; the client retries.
  if (row === undefined) return { kind: "in_flight" };
  if (!row.request_hash.equals(key.requestHash)) return { kind: "reused" };
  if (row.status === null) return { kind: "in_flight" };
  return {
    kind: "finished",
    response: { status: row.status, headers: row.headers ?? {}, body: row.body },
  };
}

/** Stores the response, unless another request has claimed the key since. */
export async function storeResponse(
  db: Queryable,
  key: RequestKey,
  attempt: number,
  answer: StoredResponse,
): Promise<void> {
  await db.query(
    `update idempotency
        set status = $4, headers = $5, body = $6
      where project_id = $1 and scoped_key = $2 and attempt = $3 and status is null`,
    [
      key.projectId,
      key.scopedKey,
      attempt,
      answer.status,
      JSON.stringify(answer.headers),
      answer.body,
    ],
  );
}

/**
 * Stores the first response for this hash, and returns the stored one when there is one already. A
 * response with another hash, from an earlier use of the key, is replaced.
 */
export async function storeFirstResponse(
  db: Queryable,
  key: RequestKey,
  answer: StoredResponse,
  { keepSeconds }: { readonly keepSeconds: number },
): Promise<StoredResponse | undefined> {
  const { projectId, scopedKey, requestHash } = key;
  const { rowCount } = await db.query(
    `insert into idempotency
       (project_id, scoped_key, request_hash, status, headers, body, locked_until, expires_at)
     values ($1, $2, $3, $4, $5, $6, now(), now() + make_interval(secs => $7))
         on conflict (project_id, scoped_key) do update
        set request_hash = excluded.request_hash, status = excluded.status,
            headers = excluded.headers, body = excluded.body, expires_at = excluded.expires_at
      where idempotency.request_hash <> excluded.request_hash`,
    [
      projectId,
      scopedKey,
      requestHash,
      answer.status,
      JSON.stringify(answer.headers),
      answer.body,
      keepSeconds,
    ],
  );
  if (rowCount === 1) return undefined;
  const found = await findResponse(db, key);
  return found.kind === "finished" ? found.response : undefined;
}

/** Releases a key whose response must not be stored, so that a repeat runs again. */
export async function releaseRequest(
  db: Queryable,
  key: RequestKey,
  attempt: number,
): Promise<void> {
  await db.query(
    `delete from idempotency
      where project_id = $1 and scoped_key = $2 and attempt = $3 and status is null`,
    [key.projectId, key.scopedKey, attempt],
  );
}

/** Deletes up to `limit` expired rows and returns their number. */
export async function deleteExpiredResponses(db: Queryable, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `delete from idempotency
      where (project_id, scoped_key) in (
              select project_id, scoped_key from idempotency
               where expires_at < now()
               order by expires_at limit $1 for update skip locked)`,
    [limit],
  );
  return rowCount ?? 0;
}
