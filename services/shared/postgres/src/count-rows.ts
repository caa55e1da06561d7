import { isStatementTimeout } from "./errors.ts";
import type { Queryable } from "./queryable.ts";
import type { Planning } from "./statement.ts";

/** Rows that a list has read. */
type FoundRows = { readonly offset: number; readonly found: number };

/** An estimate may be less than the rows that a list has read, a count is not. Behind the end, nothing was found. */
export function totalBeside(counted: bigint, { offset, found }: FoundRows): bigint {
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
