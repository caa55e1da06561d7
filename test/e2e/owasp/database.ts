import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";

import { asAdmin } from "@scrip/testing";
import type { Client } from "pg";

/** Tables with what follows every request: events, keys, tokens, entries of the audit log, numbers of validations. */
const NOT_DATA =
  /\.(outbox|inbox|stored_request|access_token|api_key|audit_entry|campaign_validation)(_|$)/;

/** The sum of a table without rows of the project. */
const NO_ROWS = "0 ";

/** Tables whose rows a job deletes when nothing needs them any more. */
const DELETED_BY_JOBS = ["export.import_file", "export.import_part"];

type Sums = Readonly<Record<string, string>>;

/** The sums after requests, with those from before them for tables that a job may have emptied. */
export const withoutDeletions = (before: Sums, after: Sums): Sums => ({
  ...after,
  ...Object.fromEntries(
    DELETED_BY_JOBS.filter((table) => after[table] === NO_ROWS).map((table) => [
      table,
      before[table] ?? "",
    ]),
  ),
});

const SETTLE_MS = 500;

/** The number of rows of a project in each table of all services, and a checksum of them. */
export const rowsOfProject = (
  databaseUrl: string,
  projectId: string,
): Promise<Readonly<Record<string, string>>> =>
  asAdmin(databaseUrl, async (client) => {
    const sums: Record<string, string> = {};
    for (const name of await tablesOf(client)) {
      const { rows } = await client.query<{ sum: string }>(
        `select count(*) || ' ' || coalesce(md5(string_agg(t::text, '' order by t::text)), '') as sum
           from ${name} as t where project_id = $1`,
        [projectId],
      );
      sums[name] = rows[0]?.sum ?? "";
    }
    return sums;
  });

/** The same, once events of earlier requests change nothing any more. */
export async function settledRows(
  databaseUrl: string,
  projectId: string,
): Promise<Readonly<Record<string, string>>> {
  for (let last = await rowsOfProject(databaseUrl, projectId); ;) {
    await sleep(SETTLE_MS);
    const rows = await rowsOfProject(databaseUrl, projectId);
    if (isDeepStrictEqual(rows, last)) return rows;
    last = rows;
  }
}

/** Rows of a project that contain one of the texts. */
export const rowsWith = (
  databaseUrl: string,
  { projectId, texts }: { readonly projectId: string; readonly texts: readonly string[] },
): Promise<readonly string[]> =>
  asAdmin(databaseUrl, async (client) => {
    const found: string[] = [];
    for (const name of await tablesOf(client)) {
      const { rows } = await client.query<{ row: string }>(
        `select t::text as row from ${name} as t
          where project_id = $1 and exists (select from unnest($2::text[]) as text where strpos(t::text, text) > 0)`,
        [projectId, texts],
      );
      found.push(...rows.map(({ row }) => `${name}: ${row}`));
    }
    return found;
  });

async function tablesOf(client: Client): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name
       from information_schema.columns join information_schema.tables using (table_schema, table_name)
      where column_name = 'project_id' and table_type = 'BASE TABLE'
        and not exists (select from pg_inherits
                         where inhrelid = format('%I.%I', table_schema, table_name)::regclass)
      order by 1`,
  );
  return rows.map(({ name }) => name).filter((name) => !NOT_DATA.test(name));
}
