import type { Queryable } from "@scrip/postgres";

import type { AccessToken } from "../domain/access-token.ts";

type TokenRow = {
  token_hash: Buffer;
  project_id: string;
  key_id: string;
  scope: string;
  expires_at: Date;
};

/**
 * Stores a token if its key is still valid, ends the oldest live tokens above `maxLive` and
 * returns their hashes; undefined when the key is no longer valid. Locks the project, because two
 * concurrent inserts would both miscount.
 */
export async function insertToken(
  tx: Queryable,
  token: AccessToken & { readonly secretHash: Uint8Array },
  maxLive: number,
): Promise<readonly Buffer[] | undefined> {
  const { rowCount } = await tx.query(
    `select 1
       from project join api_key using (project_id)
      where project_id = $1 and deleted_at is null
        and key_id = $2 and not blocked and secret_hash = $3
        for no key update of project`,
    [token.projectId, token.keyId, token.secretHash],
  );
  if (rowCount === 0) return undefined;
  const { rows } = await tx.query<{ token_hash: Buffer }>(
    `update access_token set expires_at = clock_timestamp()
      where project_id = $1 and token_hash in (
              select token_hash from access_token
               where project_id = $1 and expires_at > clock_timestamp()
               order by created_at desc, token_hash
              offset $2)
      returning token_hash`,
    [token.projectId, maxLive - 1],
  );
  await tx.query(
    `insert into access_token (token_hash, project_id, key_id, scope, expires_at)
     values ($1, $2, $3, $4, $5)`,
    [token.hash, token.projectId, token.keyId, token.scope, new Date(token.expiresAt)],
  );
  return rows.map((row) => row.token_hash);
}

/** Finds a live token of any key of the project. */
export async function findToken(
  db: Queryable,
  projectId: string,
  hash: Uint8Array,
): Promise<AccessToken | undefined> {
  const { rows } = await db.query<TokenRow>(
    `select token_hash, project_id, key_id, scope, expires_at
       from access_token join api_key using (project_id, key_id)
      where token_hash = $1 and project_id = $2 and expires_at > clock_timestamp() and not blocked`,
    [hash, projectId],
  );
  return rows[0] && accessTokenFromRow(rows[0]);
}

/** Ends a token, and returns whether it was live. */
export async function endToken(
  db: Queryable,
  projectId: string,
  hash: Uint8Array,
): Promise<boolean> {
  const { rows } = await db.query<{ live: boolean }>(
    `update access_token set expires_at = clock_timestamp()
      where token_hash = $1 and project_id = $2 and expires_at > clock_timestamp()
      returning true as live`,
    [hash, projectId],
  );
  return rows[0]?.live === true;
}

/**
 * Deletes up to `limit` tokens that ended a day ago, and returns their number. Until then a caller
 * that still uses one is not mistaken for one that guesses credentials.
 */
export async function deleteExpiredTokens(db: Queryable, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `delete from access_token
      where token_hash in (
              select token_hash from access_token
               where expires_at < clock_timestamp() - interval '1 day'
               order by expires_at limit $1 for update skip locked)`,
    [limit],
  );
  return rowCount ?? 0;
}

function accessTokenFromRow(row: TokenRow): AccessToken {
  return {
    hash: row.token_hash,
    projectId: row.project_id,
    keyId: row.key_id,
    scope: row.scope,
    expiresAt: row.expires_at.getTime(),
  };
}
