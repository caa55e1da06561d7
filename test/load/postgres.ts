import { startEmbeddedPostgres } from "@scrip/embedded-postgres";
import { Client } from "pg";

import { familyCpuSeconds } from "./machine.ts";

export type Durability = {
  readonly version: string;
  readonly fsync: string;
  readonly synchronousCommit: string;
};

/** The server of a benchmark; each side has a database of its own on it. */
export type BenchDatabase = AsyncDisposable & {
  create(name: string): Promise<string>;
  /** Processor time of the server and all its workers. */
  cpuSeconds(): number;
  /** Fails when a durability setting is off. */
  durability(url: string): Promise<Durability>;
};

/** Clients of both sides and the services' own pools. */
const MAX_CONNECTIONS = 300;

/** `statements`: with `pg_stat_statements`. */
export async function openBenchDatabase(
  dataDir: string,
  { statements = false }: { readonly statements?: boolean } = {},
): Promise<BenchDatabase> {
  {
    // The settings take effect only at a start.
    await using first = await startEmbeddedPostgres({ dataDir });
    await query(first.url, `alter system set max_connections = ${MAX_CONNECTIONS}`);
    if (statements) {
      await query(first.url, "alter system set shared_preload_libraries = 'pg_stat_statements'");
    }
  }
  const server = await startEmbeddedPostgres({ dataDir });
  const postmaster = await postmasterPid(server.url);
  return {
    create: async (name) => {
      await query(server.url, `create database ${name}`);
      const url = new URL(server.url);
      url.pathname = `/${name}`;
      return url.href;
    },
    cpuSeconds: () => familyCpuSeconds(postmaster),
    durability: readDurability,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

async function readDurability(url: string): Promise<Durability> {
  const [row] = await query(
    url,
    `select split_part(current_setting('server_version'), ' ', 1) as version,
            current_setting('fsync') as fsync,
            current_setting('synchronous_commit') as synchronous_commit,
            exists (select from pg_db_role_setting, unnest(setconfig) as setting
                     where setting ~ '^(synchronous_commit|fsync)=') as overridden`,
  );
  const { version, fsync, synchronous_commit: synchronousCommit, overridden } = row ?? {};
  if (fsync !== "on" || synchronousCommit !== "on" || overridden !== false) {
    throw new Error(`durability is not what it must be: ${JSON.stringify(row)}`);
  }
  return { version: String(version), fsync, synchronousCommit };
}

export async function postmasterPid(url: string): Promise<number> {
  const [row] = await query(
    url,
    "select split_part(pg_read_file('postmaster.pid'), chr(10), 1) as pid",
  );
  return Number(row?.["pid"]);
}

/** Runs one statement on a connection of its own. */
export async function query<Row extends object = Record<string, unknown>>(
  url: string,
  text: string,
): Promise<readonly Row[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}
