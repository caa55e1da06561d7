import { availableParallelism, totalmem } from "node:os";

import { ConfigError } from "@scrip/config";
import { Client } from "pg";

import { MAX_WORKERS } from "./config.ts";

export type Machine = { readonly processors: number; readonly memoryBytes: number };

/** Connections of one worker at most: those of the services, the gateway, the events, the jobs and the exports. */
const CONNECTIONS_PER_WORKER = 45;

/** A worker needs 430 MiB without traffic; the rest is for its requests, the primary process and PostgreSQL. */
const BYTES_PER_WORKER = 1024 ** 3;

/** The configured number, if the database accepts its connections; otherwise that for which there is room. */
export async function countWorkers(
  configured: number | undefined,
  databaseUrl: string,
  machine = thisMachine(),
): Promise<number> {
  const wanted = configured ?? workersOfMachine(machine);
  if (wanted === 1) return 1;
  const connections = await acceptedConnections(databaseUrl);
  const most = Math.max(1, Math.floor(connections / CONNECTIONS_PER_WORKER));
  if (configured === undefined) return Math.min(wanted, most);
  if (configured <= most) return configured;
  throw new ConfigError(
    `SCRIP_WORKERS=${configured} needs up to ${configured * CONNECTIONS_PER_WORKER} database connections, and the server accepts ${connections}. Set SCRIP_WORKERS to ${most}, or raise max_connections of PostgreSQL.`,
  );
}

/** The number for which a machine has room. */
export function workersOfMachine({ processors, memoryBytes }: Machine): number {
  // PostgreSQL needs the other half of the processors. Below four, a second worker has none to use.
  const byProcessors = processors < 4 ? 1 : processors / 2;
  const byMemory = memoryBytes / BYTES_PER_WORKER;
  return Math.max(1, Math.floor(Math.min(byProcessors, byMemory, MAX_WORKERS)));
}

function thisMachine(): Machine {
  // The limit of a container; 0, or more than the machine has, without one.
  const limit = process.constrainedMemory();
  const memoryBytes = limit > 0 ? Math.min(limit, totalmem()) : totalmem();
  return { processors: availableParallelism(), memoryBytes };
}

async function acceptedConnections(databaseUrl: string): Promise<number> {
  const client = new Client({ connectionString: databaseUrl, connectionTimeoutMillis: 5_000 });
  await client.connect();
  // PostgreSQL reserves connections for roles since version 16.
  const { rows } = await client
    .query<{ accepted: number }>(
      `select current_setting('max_connections')::int
            - current_setting('superuser_reserved_connections')::int
            - coalesce(current_setting('reserved_connections', true)::int, 0) as accepted`,
    )
    .finally(() => client.end());
  return rows[0]?.accepted ?? 0;
}
