import { isStatementTimeout } from "./errors.ts";
import type { Queryable } from "./queryable.ts";
import type { Planning } from "./statement.ts";

/** Rows that a list has read. */
type FoundRows = { readonly offset: number; readonly found: number };

/**
 * The total to return with a page. An estimate may be lower than the number of rows that the page and those before it
 * have shown; then this number is returned. A page behind the end has found no rows.
 */
export function consistentTotal(counted: bigint, { offset, found }: FoundRows): bigint {
  const least = found === 0 ? 0n : BigInt(offset + found);
  return counted < least ? least : counted;
}

type Explained = { readonly Plan: { readonly "Plan Rows": number } };

/**
 * The number of rows; `from` is the SQL from `from` to the end of `where`. PostgreSQL counts row by row: where that takes
 * longer than a statement may, for many millions of rows, its planner's estimate takes the place of the number.
 */
export async function countRows(
  db: Queryable,
  from: string,
  values: readonly unknown[],
  planning?: Planning,
): Promise<bigint> {
  const planned = planning === undefined ? {} : { planning };
  try {
    const { rows } = await db.query<{ total: bigint }>({
      text: `select count(*) as total ${from}`,
      values,
      ...planned,
    });
    return rows[0]?.total ?? 0n;
  } catch (error) {
    if (!isStatementTimeout(error)) throw error;
    const { rows } = await db.query<{ "QUERY PLAN": readonly Explained[] }>({
      text: `explain (format json) select ${from}`,
      values,
      ...planned,
    });
    return BigInt(Math.round(rows[0]?.["QUERY PLAN"][0]?.Plan["Plan Rows"] ?? 0));
  }
}
