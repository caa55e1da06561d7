import type { Metrics } from "@scrip/telemetry";
import { type CustomTypesConfig, Pool, type PoolClient } from "pg";

import { createBulkClient } from "./bulk-client.ts";
import { type BulkReads, createBulkReads } from "./bulk-reads.ts";
import { measureDatabase } from "./database-metrics.ts";
import { exactTypes } from "./exact-types.ts";
import { createSnapshots, type Snapshots } from "./held-snapshots.ts";
import { assertIdentifier } from "./identifier.ts";
import { NO_COMPILATION } from "./planning.ts";
import type { ProjectQueryable, Queryable } from "./queryable.ts";
import { withSession } from "./session-url.ts";
import { singleStatements } from "./single-statements.ts";
import { createSlots } from "./slots.ts";
import { bulkOnStandby, onStandby } from "./standby.ts";
import { createStatementSpans, type StatementSpans } from "./statement-spans.ts";
import { commit, transaction } from "./transaction.ts";

export type Database = ProjectQueryable & {
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
  transaction<T>(
    work: (tx: ProjectQueryable) => Promise<T>,
    options?: TransactionOptions,
  ): Promise<T>;
  /** For exports of a project: each read has a connection beside the pool, of the replica if there is one. */
  readonly bulk: (projectId: string) => BulkReads;
  /** Holds a snapshot of the primary on a connection beside the pool: transactions can read it (`readSnapshot`). */
  readonly holdSnapshot: Snapshots["hold"];
  /** Reads the streaming replica, for lists, whose rows may lag behind the primary. Absent: there is no replica. */
  readonly replica?: ProjectQueryable;
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

/** Maximum wait for a connection of the pool. A longer wait would only increase an overload. */
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
    ...NO_COMPILATION,
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
  const replica =
    replicaUrl === undefined
      ? undefined
      : openPool({ ...options, url: replicaUrl, poolerUrl: undefined }, exactTypes);
  const source = { ...options, url: replicaUrl ?? options.url };
  const bulk = (id: string): BulkReads => createBulkReads(() => createBulkClient(source, id));
  const snapshots = createSnapshots((id) =>
    createBulkClient({ ...options, queryTimeoutMs: SILENCE_TIMEOUT_MS }, id),
  );
  const transactions = createSlots({
    slots: Math.max(1, size - 1),
    maxWaitMs: CONNECTION_TIMEOUT_MS,
    timeout: () => new Error("timeout exceeded when trying to connect for a transaction"),
  });
  const onFailure =
    metrics === undefined
      ? () => {}
      : measureDatabase(metrics, { pool, size, waitingTransactions: transactions.waiting });
  const { role } = options;
  const spans = createStatementSpans(options);
  const primary = {
    pool,
    role,
    onFailure,
    isPooled: options.poolerUrl !== undefined,
    commit:
      spans === undefined ? commit : (client: PoolClient) => spans.commit(() => commit(client)),
  };
  let closed: Promise<unknown> | undefined;
  const database: Database = {
    bulk,
    holdSnapshot: snapshots.hold,
    ...(replica !== undefined && {
      bulk: (projectId) => bulkOnStandby(bulk(projectId)),
      replica: around(singleStatements({ ...primary, pool: replica, isPooled: false }), onStandby),
    }),
    size,
    ...singleStatements(primary),
    transaction: (work, { lockTimeoutMs } = {}) =>
      transactions.run(() => transaction(primary, work, { onError, lockTimeoutMs })),
    async close() {
      snapshots.close();
      await (closed ??= Promise.all([pool.end(), replica?.end()]));
    },
  };
  return spans === undefined ? database : withSpans(database, spans);
}

/** Wraps each statement. */
const around = (db: ProjectQueryable, wrap: StatementSpans["statement"]): ProjectQueryable => ({
  ...aroundQuery(db, wrap),
  inProject: (projectId) => aroundQuery(db.inProject(projectId), wrap),
});

const aroundQuery = (db: Queryable, wrap: StatementSpans["statement"]): Queryable => ({
  query: (statement, values) => wrap(statement, () => db.query(statement, values)),
});

function withSpans(database: Database, { statement, ...spans }: StatementSpans): Database {
  return {
    ...database,
    ...around(database, statement),
    ...(database.replica !== undefined && { replica: around(database.replica, statement) }),
    transaction: (work, options) =>
      spans.transaction(() => database.transaction((tx) => work(around(tx, statement)), options)),
  };
}
