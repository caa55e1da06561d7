import type { PoolClient, QueryResult, QueryResultRow } from "pg";

import { asError, isConnectionLost, sqlState } from "./errors.ts";
import { executionOf, isRollbackToSavepoint, planTransaction } from "./planning.ts";
import type { ProjectQueryable } from "./queryable.ts";
import { sendTogether } from "./send-together.ts";
import type { ConnectionSource } from "./single-statements.ts";
import { type Statement, unprepared } from "./statement.ts";
import { becomeService, becomeTenant } from "./tenant-role.ts";

type TransactionSource = ConnectionSource & {
  readonly commit: (client: PoolClient) => Promise<void>;
};

export async function transaction<T>(
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

export async function commit(client: PoolClient): Promise<void> {
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
