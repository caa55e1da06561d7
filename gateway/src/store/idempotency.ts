import { type Queryable, type ReadChunk, walkChunks } from "@scrip/postgres";

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

type Row = {
  status: number;
  headers: Record<string, string> | null;
  body: Buffer | null;
};

/**
 * Stores the first response for this hash, and returns the stored one when there is one already. A
 * response with another hash, from an earlier use of the key, is replaced.
 */
export async function storeFirstResponse(
  db: Queryable,
  key: RequestKey,
  response: StoredResponse,
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
      response.status,
      JSON.stringify(response.headers),
      response.body,
      keepSeconds,
    ],
  );
  if (rowCount === 1) return undefined;
  const { rows } = await db.query<Row>(
    `select status, headers, body
       from idempotency
      where project_id = $1 and scoped_key = $2 and status is not null`,
    [projectId, scopedKey],
  );
  const row = rows[0];
  return row && { status: row.status, headers: row.headers ?? {}, body: row.body };
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

const ERASE_CHUNK = 2_000;

/**
 * Deletes completed responses that name a customer: the service that owns the effect returns an error for them, which
 * is not completed. Scans the project, as no index finds the customer.
 */
export async function eraseCompletedResponses(
  db: Queryable,
  { projectId, customerId }: { readonly projectId: string; readonly customerId: string },
): Promise<void> {
  await walkChunks({ start: "", size: ERASE_CHUNK }, async (after) => {
    const { rows } = await db.query<ReadChunk<string>>(
      `with chunk as (
         select max(scoped_key) as last, count(*)::int as count
           from (select scoped_key from idempotency
                  where project_id = $1 and scoped_key > $2
                  order by scoped_key
                  limit ${ERASE_CHUNK}) as next
       ), erased as (
         delete from idempotency
          where project_id = $1 and scoped_key > $2 and scoped_key <= (select last from chunk)
            and position($3::bytea in body) > 0
       )
       select last, count from chunk`,
      [projectId, after, Buffer.from(customerId)],
    );
    return rows[0];
  });
}
