import type { QueryResultRow } from "pg";

import type { Statement } from "./statement.ts";

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
