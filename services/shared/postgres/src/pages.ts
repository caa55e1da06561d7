import type { QueryResultRow } from "pg";

import type { Queryable } from "./database.ts";

export type PageQuery = {
  readonly columns: string;
  /** From `from` to the end of `where`. */
  readonly from: string;
  /** What rows are sorted by; it should end with what tells any two of them apart. */
  readonly order: string;
  readonly values: readonly unknown[];
  readonly limit: number;
  readonly offset: number;
};

/** One page of a list, and how many rows there are on all pages. */
export async function readPage<Row extends QueryResultRow>(
  db: Queryable,
  { columns, from, order, values, limit, offset }: PageQuery,
): Promise<{ readonly rows: readonly Row[]; readonly total: bigint }> {
  const [{ rows }, { rows: counts }] = await Promise.all([
    db.query<Row>(
      `select ${columns} ${from} order by ${order} limit ${limit} offset ${offset}`,
      values,
    ),
    db.query<{ total: bigint }>(`select count(*) as total ${from}`, values),
  ]);
  return { rows, total: counts[0]?.total ?? 0n };
}
