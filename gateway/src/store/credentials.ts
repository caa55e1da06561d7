import { byteaArray, type Queryable, textArray } from "@scrip/postgres";

import type { ApiKey } from "../domain/api-key.ts";
import type { Project } from "../domain/project.ts";
import { type ApiKeyRow, apiKeyFromRow } from "./api-keys.ts";
import { type ProjectRow, projectFromRow } from "./projects.ts";

export type KeyOfProject = { readonly key: ApiKey; readonly project: Project };

/** A key, its project and an access token. */
export type Credentials = KeyOfProject & {
  readonly token: {
    readonly scope: string;
    readonly expiresAt: number;
    /** Expired, revoked, or issued to a key that is blocked. */
    readonly hasEnded: boolean;
    /** The key that requested the token, which may be another key of the project. */
    readonly keyId: string;
    readonly allowedIps: readonly string[];
  };
};

const KEY_OF_PROJECT = `
       key.key_id, key.project_id, key.name as key_name, key.kind, key.scopes, key.allowed_ips,
       key.secret_hash, key.blocked, key.created_at as key_created_at,
       key.updated_at as key_updated_at,
       project.version, project.name, project.description, project.time_zone, project.currency, project.dial_code,
       project.case_sensitive_codes, project.default_code_config, project.client_trusted_domains,
       project.client_features, project.sandbox, project.sandbox_now, project.webhook_version,
       project.webhook_events, project.has_earning_rules, project.cancel_pending_points_on_order_cancel,
       project.api_version, project.created_at, project.updated_at, project.first_weekday`;

type KeyOfProjectRow = ProjectRow &
  Omit<ApiKeyRow, "name"> & {
    key_name: string;
    key_created_at: Date;
    key_updated_at: Date | null;
  };

type CredentialsRow = KeyOfProjectRow & {
  token_scope: string;
  token_expires_at: Date;
  token_has_ended: boolean;
  token_key_id: string;
  token_allowed_ips: string[];
};

/** A valid key with its project. */
export async function findKey(db: Queryable, keyId: string): Promise<KeyOfProject | undefined> {
  const [found] = await findKeys(db, [keyId]);
  return found;
}

/** Valid keys with their projects, in the order of the ids. */
export async function findKeys(
  db: Queryable,
  keyIds: readonly string[],
): Promise<(KeyOfProject | undefined)[]> {
  const { rows } = await db.query<KeyOfProjectRow & Position>({
    name: "find-keys",
    planning: "indexLookups",
    text: `select wanted.at, ${KEY_OF_PROJECT}
             from unnest($1::text[]) with ordinality as wanted (key_id, at)
             join api_key as key on key.key_id = wanted.key_id
             join project using (project_id)
            where not key.blocked and project.deleted_at is null`,
    values: [textArray(keyIds)],
  });
  return inOrder(keyIds, rows, keyOfProject);
}

export type KeyAndToken = { readonly keyId: string; readonly tokenHash: Uint8Array };

/** Valid keys, each with a token of the same project, which may have ended; in the order of the pairs. */
export async function findCredentials(
  db: Queryable,
  pairs: readonly KeyAndToken[],
): Promise<(Credentials | undefined)[]> {
  const { rows } = await db.query<CredentialsRow & Position>({
    name: "find-credentials",
    planning: "indexLookups",
    text: `select wanted.at, ${KEY_OF_PROJECT},
                  token.scope as token_scope, token.expires_at as token_expires_at,
                  token.expires_at <= clock_timestamp() or owner.blocked as token_has_ended,
                  token.key_id as token_key_id, owner.allowed_ips as token_allowed_ips
             from unnest($1::text[], $2::bytea[]) with ordinality as wanted (key_id, token_hash, at)
             join api_key as key on key.key_id = wanted.key_id
             join project using (project_id)
             join access_token as token
               on token.token_hash = wanted.token_hash and token.project_id = key.project_id
             join api_key as owner on owner.key_id = token.key_id
            where not key.blocked and project.deleted_at is null`,
    values: [
      textArray(pairs.map(({ keyId }) => keyId)),
      byteaArray(pairs.map(({ tokenHash }) => tokenHash)),
    ],
  });
  return inOrder(pairs, rows, credentialsFromRow);
}

/** Position in the batch, from 1. */
type Position = { readonly at: bigint };

function inOrder<Row extends Position, Found>(
  wanted: readonly unknown[],
  rows: readonly Row[],
  fromRow: (row: Row) => Found,
): (Found | undefined)[] {
  const byPosition = new Map(rows.map((row) => [Number(row.at), row]));
  return wanted.map((_, index) => {
    const row = byPosition.get(index + 1);
    return row && fromRow(row);
  });
}

const credentialsFromRow = (row: CredentialsRow): Credentials => ({
  ...keyOfProject(row),
  token: {
    scope: row.token_scope,
    expiresAt: row.token_expires_at.getTime(),
    hasEnded: row.token_has_ended,
    keyId: row.token_key_id,
    allowedIps: row.token_allowed_ips,
  },
});

function keyOfProject(row: KeyOfProjectRow): KeyOfProject {
  return {
    key: apiKeyFromRow({
      ...row,
      name: row.key_name,
      created_at: row.key_created_at,
      updated_at: row.key_updated_at,
    }),
    project: projectFromRow(row),
  };
}
