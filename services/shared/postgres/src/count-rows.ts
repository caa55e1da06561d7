import { isStatementTimeout } from "./errors.ts";
import type { Queryable } from "./queryable.ts";

type Explained = { readonly Plan: { readonly "Plan Rows": number } };

/**
 * The number of rows; `from` is the SQL from `from` to the end of `where`. PostgreSQL counts row by row: where that takes
 * longer than a statement may, for many millions of rows, its planner's estimate takes the place of the number.
 */
export async function countRows(
  db: Queryable,
  from: string,
  values: readonly unknown[],
): Promise<bigint> {
  try {
    const { rows } = await db.query<{ total: bigint }>(`select count(*) as total ${from}`, values);
    return rows[0]?.total ?? 0n;
  } catch (error) {
    if (!isStatementTimeout(error)) throw error;
    const { rows } = await db.query<{ "QUERY PLAN": readonly Explained[] }>(
      `explain (format json) select ${from}`,
      values,
    );
    return BigInt(Math.round(rows[0]?.["QUERY PLAN"][0]?.Plan["Plan Rows"] ?? 0));
  }
}
