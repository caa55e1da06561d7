import type { Pool, PoolClient, QueryResult, QueryResultRow } from "pg";

import { asError } from "./errors.ts";
import { executionOf, planLocally, planningOf, planSession } from "./planning.ts";
import type { ProjectQueryable } from "./queryable.ts";
import { sendTogether } from "./send-together.ts";
import { type Planning, type Statement, unprepared } from "./statement.ts";
import { becomeTenant } from "./tenant-role.ts";

export type ConnectionSource = {
  readonly pool: Pool;
  /** The role of its sessions. */
  readonly role: string;
  readonly isPooled: boolean;
  /** Called with the error of each failed statement outside a transaction, and of each failed transaction. */
  readonly onFailure: (error: unknown) => void;
};

/** Statements outside transactions, each on any connection of the pool. */
export function singleStatements(source: ConnectionSource): ProjectQueryable {
  const runOne = source.isPooled ? runPooled : runAlone;
  return {
    query: (statement, values) => runOne(source, statement, values),
    inProject(projectId) {
      const tenant = becomeTenant(source.role, projectId);
      return { query: (statement, values) => runAsTenant(source, tenant, { statement, values }) };
    },
  };
}

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
