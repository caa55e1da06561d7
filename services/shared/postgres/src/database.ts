import type { Metrics } from "@scrip/telemetry";
import {
  type CustomTypesConfig,
  Pool,
  type PoolClient,
  type QueryResult,
  type QueryResultRow,
} from "pg";

import { createBulkClient } from "./bulk-client.ts";
import { type BulkReads, createBulkReads } from "./bulk-reads.ts";
import { measureDatabase } from "./database-metrics.ts";
import { isConnectionLost, sqlState } from "./errors.ts";
import { exactTypes } from "./exact-types.ts";
import { assertIdentifier } from "./identifier.ts";
import {
  executionOf,
  isRollbackToSavepoint,
  planLocally,
  planningOf,
  planSession,
  planTransaction,
} from "./planning.ts";
import { sendTogether } from "./send-together.ts";
import { withSession } from "./session-url.ts";
import { createSlots } from "./slots.ts";
import { bulkOnStandby, onStandby } from "./standby.ts";
import { createStatementSpans, type StatementSpans } from "./statement-spans.ts";
import type { Planning, Statement } from "./statement.ts";
import { becomeService, becomeTenant } from "./tenant-role.ts";

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

export type ProjectQueryable = Queryable & {
  /**
   * For reads whose conditions are composed at run time, such as lists: PostgreSQL shows them only the rows of this
   * project, also where a condition is missing. Each statement shares its round trip with the settings that it needs.
   */
  inProject(projectId: string): Queryable;
};

export type Rows<Row> = { readonly rows: readonly Row[]; readonly rowCount: number | null };

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
  /** For lists, whose rows may be as old as the replica. Absent: there is no replica. */
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
  const replica =
    replicaUrl === undefined
      ? undefined
      : openPool({ ...options, url: replicaUrl, poolerUrl: undefined }, exactTypes);
  const source = { ...options, url: replicaUrl ?? options.url };
  const bulk = (id: string): BulkReads => createBulkReads(() => createBulkClient(source, id));
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
    ...(replica !== undefined && {
      bulk: (projectId) => bulkOnStandby(bulk(projectId)),
      replica: around(singleStatements({ ...primary, pool: replica, isPooled: false }), onStandby),
    }),
    size,
    ...singleStatements(primary),
    transaction: (work, { lockTimeoutMs } = {}) =>
      transactions.run(() => transaction(primary, work, { onError, lockTimeoutMs })),
    async close() {
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

function singleStatements(source: ConnectionSource): ProjectQueryable {
  const runOne = source.isPooled ? runPooled : runAlone;
  return {
    query: (statement, values) => runOne(source, statement, values),
    inProject(projectId) {
      const tenant = becomeTenant(source.role, projectId);
      return { query: (statement, values) => runAsTenant(source, tenant, { statement, values }) };
    },
  };
}

type ConnectionSource = {
  readonly pool: Pool;
  /** The role of its sessions. */
  readonly role: string;
  readonly isPooled: boolean;
  /** Called with the error of each failed statement outside a transaction, and of each failed transaction. */
  readonly onFailure: (error: unknown) => void;
};

type TransactionSource = ConnectionSource & {
  readonly commit: (client: PoolClient) => Promise<void>;
};

/** As `query` of the pool; with callbacks like it, because this is the hot path of reads. */
function runAlone<Row extends QueryResultRow>(
  { pool, onFailure }: Pick<ConnectionSource, "pool" | "onFailure">,
  statement: string | Statement,
  values: readonly unknown[] = [],
): Promise<QueryResult<Row>> {
  return new Promise((resolve, reject) => {
    pool.connect((connectError, client, release) => {
      if (client === undefined) {
        reject(asError(connectError));
        return;
      }
      planSession(client, executionOf(statement));
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

const runPlanned = async <Row extends QueryResultRow>(
  pool: Pool,
  planning: Planning,
  statement: [string, unknown[]],
): Promise<QueryResult<Row>> =>
  runBehind(await pool.connect(), `begin; ${planLocally(planning)}`, statement);

/**
 * A read in a transaction of its own, as the tenant role. Nothing is prepared, because a prepared statement is planned
 * again whenever the role changes.
 */
async function runAsTenant<Row extends QueryResultRow>(
  { pool, isPooled, onFailure }: ConnectionSource,
  tenant: string,
  {
    statement,
    values,
  }: { readonly statement: string | Statement; readonly values: readonly unknown[] | undefined },
): Promise<QueryResult<Row>> {
  try {
    const client = await pool.connect();
    const planning = planningOf(statement);
    if (!isPooled) planSession(client, { planning, isPrepared: false });
    const planned = isPooled && planning !== undefined ? `; ${planLocally(planning)}` : "";
    const begin = `begin read only; ${tenant}${planned}`;
    return await runBehind(client, begin, unprepared(statement, values));
  } catch (error) {
    onFailure(error);
    throw error;
  }
}

/** Begins a transaction, runs one statement and commits, in one round trip. */
async function runBehind<Row extends QueryResultRow>(
  client: PoolClient,
  begin: string,
  statement: [string, unknown[]],
): Promise<QueryResult<Row>> {
  try {
    sendTogether(client);
    const [, result] = await Promise.all([
      client.query(begin),
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
  { pool, role, isPooled, onFailure, commit: end }: TransactionSource,
  work: (tx: ProjectQueryable) => Promise<T>,
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
  try {
    // Not awaited: it is sent with the first statement and saves a round trip.
    sendTogether(client);
    const begun = client.query(beginStatement(lockTimeoutMs));
    begun.catch(() => {});
    const result = await work(
      statementsOf({ client, role, isPooled, onFailure: (error) => failures.push(error) }),
    );
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

/** The statements of a transaction. */
function statementsOf({
  client,
  role,
  isPooled,
  onFailure,
}: Pick<ConnectionSource, "role" | "isPooled" | "onFailure"> & {
  readonly client: PoolClient;
}): ProjectQueryable {
  const { plan, forget } = planTransaction(client);
  const send = <Row extends QueryResultRow>(...statement: Parameters<typeof unprepared>) =>
    client.query<Row>(...unprepared(...statement));
  const noted = <Result>(result: Promise<Result>): Promise<Result> => {
    result.catch(onFailure);
    return result;
  };
  return {
    query<Row extends QueryResultRow>(statement: string | Statement, values?: readonly unknown[]) {
      sendTogether(client);
      plan(executionOf(statement, { values, isPooled }));
      if (isRollbackToSavepoint(statement)) forget();
      return noted(isPooled ? send<Row>(statement, values) : run<Row>(client, statement, values));
    },
    inProject(projectId) {
      const tenant = becomeTenant(role, projectId);
      return {
        query<Row extends QueryResultRow>(
          statement: string | Statement,
          values?: readonly unknown[],
        ) {
          sendTogether(client);
          plan(executionOf(statement, { values, isPooled: true }));
          // After a failure, the transaction or its savepoint is rolled back, and with it these settings.
          void noted(client.query(tenant));
          const rows = noted(send<Row>(statement, values));
          client.query(becomeService(role)).catch(() => {});
          return rows;
        },
      };
    },
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
