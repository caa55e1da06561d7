import {
  type CustomTypesConfig,
  Pool,
  type PoolClient,
  type QueryResult,
  type QueryResultRow,
  types,
} from "pg";

import { isConnectionLost, sqlState } from "./errors.ts";
import { assertIdentifier } from "./identifier.ts";

/**
 * With a name, each connection prepares the statement once and then runs it by its name, which saves
 * parsing and planning: worth it on the hot path only. One name stands for one text in the whole process.
 */
export type Statement = {
  readonly name?: string;
  readonly text: string;
  readonly values: readonly unknown[];
};

/**
 * What a store function needs: the pool outside a transaction, one connection inside.
 *
 * A batch goes in one statement, with one array per column, and costs one round trip:
 *
 *     insert into redemption (project_id, id, amount)
 *     select * from unnest($1::text[], $2::text[], $3::bigint[])
 *
 * `with ordinality` gives the position in the batch where the answer needs it. Several statements of
 * a transaction that do not need each other's answers share a round trip when they are started
 * together, `await Promise.all([tx.query(…), tx.query(…)])`, and run in that order all the same.
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
   * Runs `work` in one transaction and commits when it succeeds. Nothing is repeated: see
   * `isRetryable`. When the connection is lost during the commit the error does not tell whether
   * the commit was done, so the work must recognise its own repeat, for example by its ids.
   *
   * Of statements that were started together the first that fails is the one that is reported,
   * whichever of them the work waits for: those behind it only say that the transaction is over.
   */
  transaction<T>(work: (tx: Queryable) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** Waits for what runs, then closes all connections. A second call does nothing. */
  close(): Promise<void>;
};

export type TransactionOptions = {
  /** How long a statement may wait for what others hold; 1,000 when absent. */
  readonly lockTimeoutMs?: number;
};

export type DatabaseOptions = {
  readonly url: string;
  readonly schema: string;
  /** The service's own role, which reaches its own schema only. `migrate` creates it. */
  readonly role: string;
  readonly poolSize: number;
  /** Told of connections that break while nobody uses them. */
  readonly onError: (error: Error) => void;
  /** For databases that only do what takes long, such as checks and exports; 3,000 when absent. */
  readonly statementTimeoutMs?: number;
  /** How the connections are called in pg_stat_activity; the schema's name when absent. */
  readonly applicationName?: string;
};

/** Limits on everything: no statement and no forgotten transaction may hold a lock for long. */
const STATEMENT_TIMEOUT_MS = 3_000;
const LOCK_TIMEOUT_MS = 1_000;
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 5_000;

/** On top of the statement's own limit: reached only when the server or the network is silent. */
const SILENCE_TIMEOUT_MS = 2_000;

/** For a free connection of the pool or a new one. Waiting longer than that only adds to a jam. */
const CONNECTION_TIMEOUT_MS = 2_000;

/**
 * Long enough to live through a pause in the traffic: a new connection and its first statement take
 * some ten times as long as a statement of a used one, at the very moment when more are needed.
 */
const IDLE_TIMEOUT_MS = 600_000;

/**
 * What stands between us and the database forgets a silent connection after some minutes without a
 * word; left to itself, the system would first ask after two hours.
 */
const KEEP_ALIVE_AFTER_MS = 60_000;

const INT8_ARRAY = 1016;

export function createDatabase(options: DatabaseOptions): Database {
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
    // Statements that do not wait for each other share a round trip.
    pipeline: true,
    types: exactTypes,
  });
  // Without a listener an idle connection that dies would end the process.
  pool.on("error", options.onError);
  // So would one that dies while the pool hands it over: the pool listens no longer, and whoever gets
  // it does not yet. The first statement fails and tells.
  pool.on("connect", (client) => client.on("error", () => {}));
  let closed: Promise<void> | undefined;
  return {
    query: (statement, values) => runAlone(pool, statement, values),
    transaction: (work, { lockTimeoutMs } = {}) =>
      transaction(pool, work, { onError: options.onError, lockTimeoutMs }),
    close: () => (closed ??= pool.end()),
  };
}

/** Connections that plan without sequential scans at present. */
const withoutScans = new WeakSet<PoolClient>();

/**
 * Prepared statements are planned without sequential scans: a connection keeps their plans, and one that
 * was made while a table filled a page or two would read all of it for each row of each batch, until the
 * next analyze finds out how large the table has become. Everything else is planned each time, and free to
 * read a table through. The setting travels with the statement, only where the connection has another one.
 */
async function runAlone<Row extends QueryResultRow>(
  pool: Pool,
  statement: string | Statement,
  values?: readonly unknown[],
): Promise<QueryResult<Row>> {
  const client = await pool.connect();
  try {
    const isPrepared = typeof statement !== "string" && statement.name !== undefined;
    if (isPrepared !== withoutScans.has(client)) {
      client
        .query(isPrepared ? "set enable_seqscan = off" : "reset enable_seqscan")
        .catch(() => {});
      if (isPrepared) withoutScans.add(client);
      else withoutScans.delete(client);
    }
    const result = await run<Row>(client, statement, values);
    client.release();
    return result;
  } catch (error) {
    // As the pool's own `query` does: what failed is not used again.
    client.release(asError(error));
    throw error;
  }
}

function run<Row extends QueryResultRow>(
  runner: PoolClient,
  statement: string | Statement,
  values: readonly unknown[] = [],
): Promise<QueryResult<Row>> {
  // The driver writes neither to a statement nor to its values, although its types allow it to.
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
  // A connection may break between two statements, when no query is there to be told.
  client.on("error", onError);
  let broken: Error | undefined;
  const failures: unknown[] = [];
  try {
    // Not waited for: it travels with the first statement and saves a round trip.
    const begun = client.query(beginning(lockTimeoutMs));
    begun.catch(() => {});
    const result = await work({
      query<Row extends QueryResultRow>(
        statement: string | Statement,
        values?: readonly unknown[],
      ) {
        const answer = run<Row>(client, statement, values);
        answer.catch((error: unknown) => failures.push(error));
        return answer;
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
    // A connection in an unknown state is dropped by the pool instead of being used again.
    client.release(broken);
  }
}

/** Postgres says no more than this of statements that come after one that failed. */
const TRANSACTION_OVER = "25P02";

/**
 * Without sequential scans for all of a transaction: its lookups are prepared, and rows are locked in the
 * order in which a nested loop over an index finds them.
 */
const beginning = (lockTimeoutMs: number | undefined): string =>
  lockTimeoutMs === undefined
    ? "begin; set local enable_seqscan = off"
    : `begin; set local enable_seqscan = off; set local lock_timeout = ${lockTimeoutMs}`;

async function commit(client: PoolClient): Promise<void> {
  const { command } = await client.query("commit");
  // Postgres answers a commit after a failed statement with a rollback and no error.
  if (command !== "COMMIT") {
    throw new Error("The transaction was rolled back: the failure of a statement was swallowed");
  }
}

/** Answers what is wrong with the connection when it cannot be used any more. */
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
 * Gives the session's settings as options of its start: no extra round trip is needed, and a `reset`
 * comes back to them. The driver lets what stands in the URL win over everything else, so options of
 * the operator would silently replace the role and the limits: they come first and ours after them.
 */
function withSession(url: string, settings: Readonly<Record<string, string | number>>): string {
  const parsed = new URL(url);
  const given = parsed.searchParams.get("options");
  const ours = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`);
  parsed.searchParams.set("options", [...(given === null ? [] : [given]), ...ours].join(" "));
  return parsed.href;
}

/**
 * bigint columns hold money and counters, which a JavaScript number would round silently. A date has
 * no time and no zone, so it stays text: the driver would make it midnight of the machine's zone.
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
