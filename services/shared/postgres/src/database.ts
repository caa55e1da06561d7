import {
  Client,
  type CustomTypesConfig,
  Pool,
  type PoolClient,
  type QueryResult,
  type QueryResultRow,
  types,
} from "pg";

import { type BulkReads, createBulkReads } from "./bulk-reads.ts";
import { isConnectionLost, sqlState } from "./errors.ts";
import { assertIdentifier } from "./identifier.ts";

/**
 * With a name, each connection prepares the statement once and then runs it by name, which saves
 * parsing and planning: worth it on the hot path only. Each name identifies one text in the whole
 * process.
 */
export type Statement = {
  readonly name?: string;
  readonly text: string;
  readonly values: readonly unknown[];
  /**
   * Planned without sequential scans (`enable_seqscan = off`): for prepared statements that look up rows of a
   * table that grows. A connection keeps the plan of a prepared statement, and one that was cached while the
   * table filled a page or two would read all of it for each row, until the next analyze
   * (services/decisions/0021-index-lookups-and-grouped-events.md).
   */
  readonly planning?: "indexLookups";
};

/**
 * What a store function needs: the pool outside a transaction, one connection inside.
 *
 * A batch goes in one statement, with one array per column, and costs one round trip:
 *
 *     insert into redemption (project_id, id, amount)
 *     select * from unnest($1::text[], $2::text[], $3::bigint[])
 *
 * `with ordinality` returns the position in the batch. Several statements of a transaction that do not
 * depend on each other share a round trip when they are started together,
 * `await Promise.all([tx.query(…), tx.query(…)])`; they still run in that order.
 */
export type Queryable = {
  query<Row extends QueryResultRow = QueryResultRow>(
    statement: string | Statement,
    values?: readonly unknown[],
  ): Promise<Rows<Row>>;
};

export type Rows<Row> = { readonly rows: readonly Row[]; readonly rowCount: number | null };

export type Database = Queryable & {
  /**
   * Runs `work` in one transaction and commits when it succeeds. It does not retry: see
   * `isRetryable`. When the connection is lost during the commit, the outcome of the commit is
   * unknown, so the work must detect its own repetition, for example by its ids.
   *
   * When statements were started together, the first failure is reported, whichever of them the
   * work awaits: the later ones only report that the transaction is aborted.
   */
  transaction<T>(work: (tx: Queryable) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** For exports: each read has a connection beside the pool. */
  readonly bulk: BulkReads;
  /** Maximum number of connections. */
  readonly size: number;
  /** Waits for running statements, then closes all connections. A second call does nothing. */
  close(): Promise<void>;
};

export type TransactionOptions = {
  /** How long a statement may wait for locks. Default: 1,000 ms. */
  readonly lockTimeoutMs?: number;
};

export type DatabaseOptions = {
  readonly url: string;
  readonly schema: string;
  /** The role of the service, which reaches its own schema only. `migrate` creates it. */
  readonly role: string;
  readonly poolSize: number;
  /** Called when an idle connection breaks. */
  readonly onError: (error: Error) => void;
  /** For long-running work such as checks and exports. Default: 3,000 ms. */
  readonly statementTimeoutMs?: number;
  /** The application name in pg_stat_activity. Default: the name of the schema. */
  readonly applicationName?: string;
};

/** Limits for every session: no statement and no abandoned transaction may hold a lock for long. */
const STATEMENT_TIMEOUT_MS = 3_000;
const LOCK_TIMEOUT_MS = 1_000;
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 5_000;

/**
 * Beyond the limit of the statement itself: reached only when the server or the network is silent.
 */
const SILENCE_TIMEOUT_MS = 2_000;

/** For a free or a new connection of the pool. A longer wait only adds to a jam. */
const CONNECTION_TIMEOUT_MS = 2_000;

/**
 * Outlives a pause in the traffic: a new connection and its first statement take about ten times as
 * long as a statement of an open connection, exactly when more connections are needed.
 */
const IDLE_TIMEOUT_MS = 600_000;

/**
 * Firewalls and proxies drop silent connections after some minutes; by default, the system would
 * probe them after two hours.
 */
const KEEP_ALIVE_AFTER_MS = 60_000;

const INT8_ARRAY = 1016;

/**
 * The connections of a database, for libraries that bring their own statements and expect the types of the driver,
 * such as text for `bigint`. Others use `createDatabase`.
 */
export const createPool = (options: DatabaseOptions): Pool => openPool(options);

function openPool(options: DatabaseOptions, customTypes?: CustomTypesConfig): Pool {
  const {
    schema,
    role,
    applicationName = schema,
    statementTimeoutMs = STATEMENT_TIMEOUT_MS,
  } = options;
  assertIdentifier(schema);
  assertIdentifier(role);
  const session = {
    role,
    search_path: schema,
    statement_timeout: statementTimeoutMs,
    lock_timeout: LOCK_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
  };
  const pool = new Pool({
    connectionString: withSession(options.url, session),
    application_name: applicationName,
    max: options.poolSize,
    connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    query_timeout: statementTimeoutMs + SILENCE_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
    // Independent statements share a round trip.
    pipeline: true,
    types: customTypes,
  });
  // Without a listener, an idle connection that dies would end the process.
  pool.on("error", options.onError);
  // So would one that dies while the pool hands it over: the pool no longer listens, and its new
  // owner does not yet. The first statement then reports the failure.
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

export function createDatabase(options: DatabaseOptions): Database {
  const pool = openPool(options, exactTypes);
  let closed: Promise<void> | undefined;
  return {
    bulk: createBulkReads(() => createBulkClient(options)),
    size: options.poolSize,
    query: (statement, values) => runAlone(pool, statement, values),
    transaction: (work, { lockTimeoutMs } = {}) =>
      transaction(pool, work, { onError: options.onError, lockTimeoutMs }),
    close: () => (closed ??= pool.end()),
  };
}

/** For reads of millions of rows, whose receiver may be slow. */
const BULK_TIMEOUT_MS = 60 * 60_000;

function createBulkClient({
  url,
  schema,
  role,
  applicationName = schema,
}: DatabaseOptions): Client {
  return new Client({
    connectionString: withSession(url, {
      role,
      search_path: schema,
      default_transaction_read_only: "on",
      statement_timeout: BULK_TIMEOUT_MS,
      idle_in_transaction_session_timeout: BULK_TIMEOUT_MS,
    }),
    application_name: `${applicationName} bulk`,
    connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
    types: exactTypes,
  });
}

/** Connections whose session currently plans without sequential scans. */
const withoutScans = new WeakSet<PoolClient>();

const avoidsScans = (statement: string | Statement): boolean =>
  typeof statement !== "string" && statement.planning === "indexLookups";

/** Sent ahead of the statement, without a round trip of its own, only where the session has another setting. */
function planSession(client: PoolClient, avoids: boolean): void {
  if (avoids === withoutScans.has(client)) return;
  // When this fails the connection is broken, and the statement behind it fails too.
  client.query(avoids ? "set enable_seqscan = off" : "reset enable_seqscan").catch(() => {});
  if (avoids) withoutScans.add(client);
  else withoutScans.delete(client);
}

/** As `query` of the pool; with callbacks like it, because this is the hot path of reads. */
function runAlone<Row extends QueryResultRow>(
  pool: Pool,
  statement: string | Statement,
  values: readonly unknown[] = [],
): Promise<QueryResult<Row>> {
  return new Promise((resolve, reject) => {
    pool.connect((connectError, client, release) => {
      if (client === undefined) {
        reject(asError(connectError));
        return;
      }
      planSession(client, avoidsScans(statement));
      const done = (error: Error | undefined, result: QueryResult<Row>): void => {
        // As the `query` of the pool does: a failed connection is not reused.
        release(error ?? undefined);
        if (error) reject(error);
        else resolve(result);
      };
      if (typeof statement === "string") client.query<Row>(statement, [...values], done);
      else client.query<Row>({ ...statement, values: [...statement.values] }, done);
    });
  });
}

function run<Row extends QueryResultRow>(
  runner: PoolClient,
  statement: string | Statement,
  values: readonly unknown[] = [],
): Promise<QueryResult<Row>> {
  // The driver writes neither to a statement nor to its values, although its types allow it.
  return typeof statement === "string"
    ? runner.query<Row>(statement, values as unknown[])
    : runner.query<Row>({ ...statement, values: statement.values as unknown[] });
}

async function transaction<T>(
  pool: Pool,
  work: (tx: Queryable) => Promise<T>,
  {
    onError,
    lockTimeoutMs,
  }: {
    readonly onError: (error: Error) => void;
    readonly lockTimeoutMs: number | undefined;
  },
): Promise<T> {
  const client = await pool.connect();
  // A connection may break between two statements, when no query can report it.
  client.on("error", onError);
  let broken: Error | undefined;
  const failures: unknown[] = [];
  const plan = planTransaction(client);
  try {
    // Not awaited: it is sent with the first statement and saves a round trip.
    const begun = client.query(beginning(lockTimeoutMs));
    begun.catch(() => {});
    const result = await work({
      query<Row extends QueryResultRow>(
        statement: string | Statement,
        values?: readonly unknown[],
      ) {
        plan(avoidsScans(statement));
        const rows = run<Row>(client, statement, values);
        rows.catch((error: unknown) => failures.push(error));
        return rows;
      },
    });
    await begun;
    await commit(client);
    return result;
  } catch (error) {
    const cause = sqlState(error) === TRANSACTION_OVER ? (failures[0] ?? error) : error;
    broken = await rollback(client, cause);
    throw cause;
  } finally {
    client.off("error", onError);
    // The pool drops a connection in an unknown state instead of reusing it.
    client.release(broken);
  }
}

/**
 * As `planSession`, but until the transaction ends, because a rollback would undo a setting of the session. What one
 * statement needs applies to those behind it too, which saves changing it back.
 */
function planTransaction(client: PoolClient): (avoids: boolean) => void {
  let current = withoutScans.has(client);
  let needed = false;
  return (avoids) => {
    needed ||= avoids;
    if (needed === current) return;
    current = needed;
    client.query(`set local enable_seqscan ${needed ? "= off" : "to default"}`).catch(() => {});
  };
}

/** The only error that Postgres reports for statements after a failed one. */
const TRANSACTION_OVER = "25P02";

const beginning = (lockTimeoutMs: number | undefined): string =>
  lockTimeoutMs === undefined ? "begin" : `begin; set local lock_timeout = ${lockTimeoutMs}`;

async function commit(client: PoolClient): Promise<void> {
  const { command } = await client.query("commit");
  // Postgres responds to a commit after a failed statement with a rollback and no error.
  if (command !== "COMMIT") {
    throw new Error("The transaction was rolled back: the failure of a statement was ignored");
  }
}

/** Returns why the connection cannot be reused, if so. */
async function rollback(client: PoolClient, error: unknown): Promise<Error | undefined> {
  if (isConnectionLost(error)) return asError(error);
  try {
    await client.query("rollback");
    return undefined;
  } catch (rollbackError) {
    return asError(rollbackError);
  }
}

const asError = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new Error(String(thrown));

/**
 * The settings of the session as start options, which need no round trip and survive a `reset`. In
 * the driver, options in the URL override all others, so the operator's options would silently
 * replace the role and the limits: they come first, and ours after them.
 */
function withSession(url: string, settings: Readonly<Record<string, string | number>>): string {
  const parsed = new URL(url);
  const fromUrl = parsed.searchParams.get("options");
  const ours = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`);
  parsed.searchParams.set("options", [...(fromUrl === null ? [] : [fromUrl]), ...ours].join(" "));
  return parsed.href;
}

/**
 * bigint columns hold money and counters, which a JavaScript number would round silently. Dates
 * stay text: the driver would read them as midnight in the time zone of the machine.
 */
const PARSERS = new Map<number, (text: string) => unknown>([
  [types.builtins.INT8, BigInt],
  [INT8_ARRAY, parseInt8Array],
  [types.builtins.DATE, (text) => text],
]);

type Oid = Parameters<typeof types.getTypeParser>[0];

const exactTypes: CustomTypesConfig = {
  getTypeParser: (oid: Oid, format?: "text" | "binary") =>
    (format === "binary" ? undefined : PARSERS.get(oid)) ?? types.getTypeParser(oid, format),
};

/** "{1,NULL,3}": one dimension, and integers are never quoted. */
function parseInt8Array(text: string): (bigint | null)[] {
  const items = text.slice(1, -1);
  if (items === "") return [];
  return items.split(",").map((item) => (item === "NULL" ? null : BigInt(item)));
}
