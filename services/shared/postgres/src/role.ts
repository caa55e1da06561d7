import { setTimeout as sleep } from "node:timers/promises";

import type { Client } from "pg";

import { sqlState } from "./errors.ts";
import { MigrationError } from "./migration-error.ts";

/**
 * Roles belong to the whole cluster, while the migration lock belongs to one database: migrations
 * of two databases may create the same role concurrently. Postgres then fails one of them with
 * duplicate_object, unique_violation or "tuple concurrently updated"; the next attempt finds the
 * role.
 */
const RACES = new Set(["42710", "23505", "XX000"]);
const ATTEMPTS = 5;
const PAUSE_MS = 20;

/** Since version 16, a member may lack the right to act as the role. */
const SET_OPTION_SINCE = 160_000;

/** Ensures that the role exists and that the connecting user may act as it. */
export async function ensureRole(client: Client, role: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await createAndGrant(client, role);
    } catch (error) {
      if (attempt === ATTEMPTS || !RACES.has(sqlState(error) ?? "")) throw explain(error, role);
      await sleep(PAUSE_MS * attempt);
    }
  }
}

async function createAndGrant(client: Client, role: string): Promise<void> {
  const { rows: roles } = await client.query("select 1 from pg_roles where rolname = $1", [role]);
  if (roles.length === 0) await client.query(`create role ${role} nologin`);
  if (!(await mayActAs(client, role))) await client.query(`grant ${role} to current_user`);
}

async function mayActAs(client: Client, role: string): Promise<boolean> {
  const { rows } = await client.query<{ may: boolean }>(
    `select pg_has_role($1, case when current_setting('server_version_num')::int >= $2
                                 then 'set' else 'member' end) as may`,
    [role, SET_OPTION_SINCE],
  );
  return rows[0]?.may === true;
}

const INSUFFICIENT_PRIVILEGE = "42501";

function explain(error: unknown, role: string): unknown {
  if (sqlState(error) !== INSUFFICIENT_PRIVILEGE) return error;
  return new MigrationError(
    `The database user may not create the role ${role} or act as it. As an administrator, run ` +
      `"create role ${role} nologin" and grant it to that user.`,
    { cause: error },
  );
}
