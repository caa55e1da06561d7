import type { Metrics } from "@scrip/telemetry";
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
import { measureDatabase } from "./database-metrics.ts";
import { isConnectionLost, sqlState } from "./errors.ts";
import { assertIdentifier } from "./identifier.ts";
import { createSlots } from "./slots.ts";
import { createStatementSpans, type StatementSpans } from "./statement-spans.ts";
import type { Planning, Statement } from "./statement.ts";

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
   *
   * All transactions together leave one connection to single statements, which work inside of them may need in order
   * to finish, such as a cache that loads a definition.
   */
  transaction<T>(work: (tx: Queryable) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** For exports: each read has a connection beside the pool, of the replica if there is one. */
  readonly bulk: BulkReads;
  /** For lists, whose rows may be as old as the replica. Absent: there is no replica. */
  readonly replica?: Queryable;
  /** Maximum number of connections, of which transactions leave one. */
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
  /**
   * PgBouncer in transaction mode in front of the same database, for the statements of the pool. It has a database named
   * as the schema, whose `connect_query` is `sessionStatement`.
   */
  readonly poolerUrl?: string | undefined;
  /** A streaming replica of the database, for exports and lists. */
  readonly replicaUrl?: string | undefined;
  readonly schema: string;
  /** The role of the service, which reaches its own schema only. `migrate` creates it. */
  readonly role: string;
  readonly poolSize: number;
  /** Called when an idle connection breaks. */
  readonly onError: (error: Error) => void;
  /** For long-running work such as checks and exports. Default: 3,000 ms. */
  readonly statementTimeoutMs?: number;
  /** Where connections, deadlocks and serialization failures are reported. Default: nowhere. */
  readonly metrics?: Metrics | undefined;
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
  const session = sessionOf({ schema, role, statementTimeoutMs });
  const pool = new Pool({
    connectionString:
      options.poolerUrl === undefined
        ? withSession(options.url, session)
        : Object.assign(new URL(options.poolerUrl), { pathname: `/${schema}` }).href,
    ...(options.poolerUrl !== undefined && { verify: requireSession({ schema, role }) }),
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

type SessionOptions = Pick<DatabaseOptions, "schema" | "role" | "statementTimeoutMs">;

function sessionOf({ schema, role, statementTimeoutMs = STATEMENT_TIMEOUT_MS }: SessionOptions) {
  assertIdentifier(schema);
  assertIdentifier(role);
  return {
    role,
    search_path: schema,
    statement_timeout: statementTimeoutMs,
    lock_timeout: LOCK_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
  };
}

/** SQL that gives a session of a pooler the settings that connections to Postgres get from their options. */
export const sessionStatement = (options: SessionOptions): string =>
  Object.entries(sessionOf(options))
    .map(([name, value]) => `set ${name} = ${value}`)
    .join("; ");

/** Behind a pooler, sessions belong to it: fails a connection whose session is not that of the service. */
const requireSession =
  (options: SessionOptions) =>
  (client: PoolClient, done: (error?: Error) => void): void =>
    client.query<{ own: boolean }>(
      `select current_user = '${options.role}' and current_schema() = '${options.schema}'
              and current_setting('lock_timeout') <> '0' as own`,
      (error: Error | null, result) => {
        if (error !== null && error !== undefined) done(error);
        else done(result.rows[0]?.own === true ? undefined : new Error(wrongSession(options)));
      },
    );

const wrongSession = (options: SessionOptions): string =>
  `The database ${options.schema} of the pooler needs connect_query = '${sessionStatement(options)}'`;

export function createDatabase(options: DatabaseOptions): Database {
  const { replicaUrl, onError, metrics, poolSize: size } = options;
  const pool = openPool(options, exactTypes);
  const isPooled = options.poolerUrl !== undefined;
  const runOnPool = isPooled ? runPooled : runAlone;
  const replica =
    replicaUrl === undefined
      ? undefined
      : openPool({ ...options, url: replicaUrl, poolerUrl: undefined }, exactTypes);
  const bulk = { ...options, url: replicaUrl ?? options.url };
  const transactions = createSlots({
    slots: Math.max(1, size - 1),
    maxWaitMs: CONNECTION_TIMEOUT_MS,
    timeout: () => new Error("timeout exceeded when trying to connect for a transaction"),
  });
  const onFailure =
    metrics === undefined
      ? () => {}
      : measureDatabase(metrics, { pool, size, waitingTransactions: transactions.waiting });
  const spans = createStatementSpans(options);
  const primary = {
    pool,
    onFailure,
    commit:
      spans === undefined ? commit : (client: PoolClient) => spans.commit(() => commit(client)),
  };
  let closed: Promise<unknown> | undefined;
  const database: Database = {
    bulk: createBulkReads(() => createBulkClient(bulk)),
    ...(replica !== undefined && {
      replica: {
        query: (statement, values) => runAlone({ pool: replica, onFailure }, statement, values),
      },
    }),
    size,
    query: (statement, values) => runOnPool(primary, statement, values),
    transaction: (work, { lockTimeoutMs } = {}) =>
      transactions.run(() => transaction(primary, work, { onError, lockTimeoutMs, isPooled })),
    async close() {
      await (closed ??= Promise.all([pool.end(), replica?.end()]));
    },
  };
  return spans === undefined ? database : withSpans(database, spans);
}

function withSpans(database: Database, spans: StatementSpans): Database {
  const traced = (db: Queryable): Queryable => ({
    query: (statement, values) => spans.statement(statement, () => db.query(statement, values)),
  });
  return {
    ...database,
    ...traced(database),
    ...(database.replica !== undefined && { replica: traced(database.replica) }),
    transaction: (work, options) =>
      spans.transaction(() => database.transaction((tx) => work(traced(tx)), options)),
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
      // As the planning "hashJoins": exports join whole projects, whose size the statistics may not know yet.
      enable_nestloop: "off",
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

/** The setting that a planning turns off. */
const SETTINGS = { indexLookups: "enable_seqscan", hashJoins: "enable_nestloop" } as const;

/** The planning of connections whose session has another one than the default. */
const sessions = new WeakMap<PoolClient, Planning>();

const planningOf = (statement: string | Statement): Planning | undefined =>
  typeof statement === "string" ? undefined : statement.planning;

/** Sent ahead of the statement, without a round trip of its own, only where the session has another setting. */
function planSession(client: PoolClient, planning: Planning | undefined): void {
  const current = sessions.get(client);
  if (planning === current) return;
  // When this fails the connection is broken, and the statement behind it fails too.
  const send = (setting: string): void => void client.query(setting).catch(() => {});
  if (current !== undefined) send(`reset ${SETTINGS[current]}`);
  if (planning === undefined) {
    sessions.delete(client);
    return;
  }
  send(`set ${SETTINGS[planning]} = off`);
  sessions.set(client, planning);
}

type ConnectionSource = {
  readonly pool: Pool;
  /** Called with the error of each failed statement outside a transaction, and of each failed transaction. */
  readonly onFailure: (error: unknown) => void;
};

type TransactionSource = ConnectionSource & {
  readonly commit: (client: PoolClient) => Promise<void>;
};

/** As `query` of the pool; with callbacks like it, because this is the hot path of reads. */
function runAlone<Row extends QueryResultRow>(
  { pool, onFailure }: ConnectionSource,
  statement: string | Statement,
  values: readonly unknown[] = [],
): Promise<QueryResult<Row>> {
  return new Promise((resolve, reject) => {
    pool.connect((connectError, client, release) => {
      if (client === undefined) {
        reject(asError(connectError));
        return;
      }
      planSession(client, planningOf(statement));
      const done = (error: Error | undefined, result: QueryResult<Row>): void => {
        // As the `query` of the pool does: a failed connection is not reused.
        release(error ?? undefined);
        if (error) {
          onFailure(error);
          reject(error);
        } else resolve(result);
      };
      if (typeof statement === "string") client.query<Row>(statement, [...values], done);
      else client.query<Row>({ ...statement, values: [...statement.values] }, done);
    });
  });
}

/**
 * As `runAlone` behind a pooler, where each transaction has another session: nothing is prepared, and settings last for
 * one transaction. Its statements are sent together.
 */
async function runPooled<Row extends QueryResultRow>(
  { pool, onFailure }: ConnectionSource,
  statement: string | Statement,
  values?: readonly unknown[],
): Promise<QueryResult<Row>> {
  try {
    const planning = planningOf(statement);
    return planning === undefined
      ? await pool.query<Row>(...unprepared(statement, values))
      : await runPlanned(pool, planning, unprepared(statement, values));
  } catch (error) {
    onFailure(error);
    throw error;
  }
}

async function runPlanned<Row extends QueryResultRow>(
  pool: Pool,
  planning: Planning,
  statement: [string, unknown[]],
): Promise<QueryResult<Row>> {
  const client = await pool.connect();
  try {
    const [, result] = await Promise.all([
      client.query(`begin; set local ${SETTINGS[planning]} = off`),
      client.query<Row>(...statement),
      client.query("commit"),
    ]);
    client.release();
    return result;
  } catch (error) {
    // The results of the other statements may still be on their way.
    client.release(asError(error));
    throw error;
  }
}

const unprepared = (
  statement: string | Statement,
  values: readonly unknown[] = [],
): [string, unknown[]] =>
  typeof statement === "string"
    ? [statement, [...values]]
    : [statement.text, [...statement.values]];

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
  { pool, onFailure, commit: end }: TransactionSource,
  work: (tx: Queryable) => Promise<T>,
  {
    onError,
    lockTimeoutMs,
    isPooled,
  }: {
    readonly onError: (error: Error) => void;
    readonly lockTimeoutMs: number | undefined;
    readonly isPooled: boolean;
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
    const begun = client.query(beginStatement(lockTimeoutMs));
    begun.catch(() => {});
    const result = await work({
      query<Row extends QueryResultRow>(
        statement: string | Statement,
        values?: readonly unknown[],
      ) {
        plan(planningOf(statement));
        const rows = isPooled
          ? client.query<Row>(...unprepared(statement, values))
          : run<Row>(client, statement, values);
        rows.catch((error: unknown) => failures.push(error));
        return rows;
      },
    });
    await begun;
    await end(client);
    return result;
  } catch (error) {
    const cause = sqlState(error) === IN_FAILED_SQL_TRANSACTION ? (failures[0] ?? error) : error;
    onFailure(cause);
    broken = await rollback(client, cause);
    throw cause;
  } finally {
    client.off("error", onError);
    // The pool drops a connection in an unknown state instead of reusing it.
    client.release(broken);
  }
}

/**
 * As `planSession`, but until the transaction ends, because a rollback would undo a setting of the session. Statements
 * behind an index lookup are planned like it, which saves changing the setting back.
 */
function planTransaction(client: PoolClient): (planning: Planning | undefined) => void {
  const session = sessions.get(client);
  const current: Record<Planning, boolean> = {
    indexLookups: session === "indexLookups",
    hashJoins: session === "hashJoins",
  };
  let lookups = false;
  const change = (planning: Planning, wanted: boolean): void => {
    if (wanted === current[planning]) return;
    current[planning] = wanted;
    const value = wanted ? "= off" : "to default";
    client.query(`set local ${SETTINGS[planning]} ${value}`).catch(() => {});
  };
  return (planning) => {
    lookups ||= planning === "indexLookups";
    change("indexLookups", lookups);
    change("hashJoins", planning === "hashJoins");
  };
}

/** The only error that Postgres reports for statements after a failed one. */
const IN_FAILED_SQL_TRANSACTION = "25P02";

const beginStatement = (lockTimeoutMs: number | undefined): string =>
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
