import { randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import { Client } from "pg";

/**
 * Proof that this process lives: a shared advisory lock, held by a connection of its own that is idle otherwise. Its
 * server process notices the end of this process immediately, and PostgreSQL then releases the lock
 * (services/decisions/0036-claims-of-living-processes.md).
 */
export type ProcessLock = AsyncDisposable & {
  /** Identifies this process; `processEnded` tests it. */
  readonly id: number;
};

export type ProcessLockOptions = {
  readonly url: string;
  /** The application name in pg_stat_activity. */
  readonly name: string;
};

/** First key of the locks; the second is the id of the process. */
const LOCK_CLASS = 1_396_920_144;

const RECONNECT_MS = 100;
const CONNECTION_TIMEOUT_MS = 2_000;
const KEEP_ALIVE_AFTER_MS = 5_000;

/** After a restart of PostgreSQL, living processes get this time to take their locks again. */
const RECONNECT_GRACE_SECONDS = 2;

/**
 * SQL condition: the process whose id is in `column` holds no lock any more. False for NULL, and until two seconds after
 * PostgreSQL has started.
 */
export const processEnded = (column: string): string =>
  `(pg_postmaster_start_time() < clock_timestamp() - interval '${RECONNECT_GRACE_SECONDS} seconds'
    and ${column} is not null
    and not exists (
        select from pg_locks as process
         where process.locktype = 'advisory' and process.granted
           and process.database = (select oid from pg_database where datname = current_database())
           and process.classid = ${LOCK_CLASS} and process.objid = ${column}::oid and process.objsubid = 2))`;

/** Takes the lock, and takes it again whenever the connection was lost, until disposed. */
export async function holdProcessLock(options: ProcessLockOptions): Promise<ProcessLock> {
  const id = randomInt(1, 2 ** 31 - 1);
  const closing = new AbortController();
  const isOpen = (): boolean => !closing.signal.aborted;
  let connected = await lock(options, id);
  const holding = (async () => {
    while (isOpen()) {
      await connected.ended;
      while (isOpen()) {
        try {
          connected = await lock(options, id);
          break;
        } catch {
          // PostgreSQL is not available, which the pools report.
          await sleep(RECONNECT_MS, undefined, { ref: false });
        }
      }
    }
  })();
  return {
    id,
    async [Symbol.asyncDispose]() {
      closing.abort();
      await connected.client.end();
      await holding;
      // It may have connected again meanwhile.
      await connected.client.end();
    },
  };
}

async function lock({ url, name }: ProcessLockOptions, id: number) {
  const client = new Client({
    connectionString: url,
    application_name: name,
    connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
    query_timeout: CONNECTION_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
  });
  const ended = new Promise<void>((resolve) => {
    // Without a listener, a connection that breaks ends the process.
    client.on("error", () => resolve());
    client.on("end", () => resolve());
  });
  try {
    await client.connect();
    // Shared: the server may still hold the lock for an earlier connection of this process.
    await client.query("select pg_advisory_lock_shared($1, $2)", [LOCK_CLASS, id]);
  } catch (error) {
    await client.end().catch(() => {});
    throw error;
  }
  return { client, ended };
}
