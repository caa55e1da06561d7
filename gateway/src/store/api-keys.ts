import { buildStatement, column, type ColumnTable, type Queryable, rowOf } from "@scrip/postgres";

import type { ApiKey, KeyKind } from "../domain/api-key.ts";

export type ApiKeyRow = {
  key_id: string;
  project_id: string;
  name: string;
  kind: KeyKind;
  scopes: string[];
  allowed_ips: string[];
  secret_hash: Buffer;
  blocked: boolean;
  created_at: Date;
  updated_at: Date | null;
};

const columns: ColumnTable<ApiKey> = {
  key_id: column.text(({ id }) => id),
  project_id: column.text(({ projectId }) => projectId),
  name: column.text(({ name }) => name),
  kind: column.text(({ kind }) => kind),
  scopes: column.single("text[]", ({ scopes }) => scopes),
  allowed_ips: column.single("text[]", ({ allowedIps }) => allowedIps),
  secret_hash: column.bytea(({ secretHash }) => secretHash),
  blocked: column.bool(({ blocked }) => blocked),
  created_at: column.timestamp(({ createdAt }) => createdAt.getTime()),
  updated_at: column.timestamp(({ updatedAt }) => updatedAt && updatedAt.getTime()),
};

const COLUMNS = Object.keys(columns).join(", ");

const insertStatement = buildStatement({
  parts: { key: rowOf(columns) },
  text: ({ key }) => `insert into api_key (${key.columns}) values (${key.values})`,
});

export async function insertApiKey(tx: Queryable, key: ApiKey): Promise<void> {
  await tx.query(insertStatement({ key }));
}

/** Whether a key with this id and secret exists. */
export async function isKnownKey(
  db: Queryable,
  keyId: string,
  secretHash: Uint8Array,
): Promise<boolean> {
  const { rowCount } = await db.query(
    "select 1 from api_key where key_id = $1 and secret_hash = $2",
    [keyId, secretHash],
  );
  return rowCount === 1;
}

/** All keys of a project, newest first; the number is bounded. */
export async function listApiKeys(db: Queryable, projectId: string): Promise<readonly ApiKey[]> {
  const { rows } = await db.query<ApiKeyRow>(
    `select ${COLUMNS} from api_key where project_id = $1 order by created_at desc, key_id desc`,
    [projectId],
  );
  return rows.map(apiKeyFromRow);
}

export async function countApiKeys(db: Queryable, projectId: string): Promise<number> {
  const { rows } = await db.query<{ total: bigint }>(
    "select count(*) as total from api_key where project_id = $1",
    [projectId],
  );
  return Number(rows[0]?.total ?? 0n);
}

type KeyRef = { readonly projectId: string; readonly keyId: string };

export async function blockApiKey(
  db: Queryable,
  { projectId, keyId }: KeyRef,
  at: Date,
): Promise<ApiKey | undefined> {
  const { rows } = await db.query<ApiKeyRow>(
    `update api_key
        set blocked = true, updated_at = case when blocked then updated_at else $3 end
      where project_id = $1 and key_id = $2
      returning ${COLUMNS}`,
    [projectId, keyId, at],
  );
  return rows[0] && apiKeyFromRow(rows[0]);
}

export async function replaceSecret(
  db: Queryable,
  { projectId, keyId }: KeyRef,
  secretHash: Uint8Array,
  at: Date,
): Promise<ApiKey | undefined> {
  const { rows } = await db.query<ApiKeyRow>(
    `update api_key
        set secret_hash = $3, updated_at = $4
      where project_id = $1 and key_id = $2
      returning ${COLUMNS}`,
    [projectId, keyId, secretHash, at],
  );
  return rows[0] && apiKeyFromRow(rows[0]);
}

export async function deleteApiKey(db: Queryable, { projectId, keyId }: KeyRef): Promise<boolean> {
  const { rowCount } = await db.query("delete from api_key where project_id = $1 and key_id = $2", [
    projectId,
    keyId,
  ]);
  return rowCount === 1;
}

export function apiKeyFromRow(row: ApiKeyRow): ApiKey {
  return {
    id: row.key_id,
    projectId: row.project_id,
    name: row.name,
    kind: row.kind,
    scopes: row.scopes,
    allowedIps: row.allowed_ips,
    secretHash: row.secret_hash,
    blocked: row.blocked,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
