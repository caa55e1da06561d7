import type { QueryResultRow } from "pg";

import { countRows, consistentTotal } from "./count-rows.ts";
import type { Database } from "./database.ts";
import type { ProjectQueryable, Queryable } from "./queryable.ts";
import type { Planning } from "./statement.ts";

export type PageQuery = {
  readonly projectId: string;
  readonly columns: string;
  /** From `from` to the end of `where`. */
  readonly from: string;
  /**
   * The rows to count for the total, if `from` contains parts that are already sorted and limited for the page.
   * Default: `from`.
   */
  readonly counted?: string;
  /** The sort order; its last column should be unique. */
  readonly order: string;
  readonly values: readonly unknown[];
  readonly limit: number;
  readonly offset: number;
  /**
   * Joins that only the columns need, and neither the selection of rows nor their order: they are applied to the rows
   * of the page only.
   */
  readonly completed?: { readonly alias: string; readonly joins: string };
  /** Default: as the statistics suggest. */
  readonly planning?: Planning;
  /** Rows up to this position are counted in the total, but not on any page. */
  readonly after?: ListPosition;
};

export type ListPosition = {
  readonly column: string;
  readonly operator: "<" | ">";
  readonly value: string;
};

export type Page = { readonly limit: number; readonly offset: number };

const DEFAULT_LIMIT = 10n;

/**
 * Limit and offset of a list request: the first page with 10 entries by default
 * (docs/filters-and-listing.md#pages). The caller has checked the bounds.
 */
export function parsePage(request: {
  readonly limit?: bigint | undefined;
  readonly page?: bigint | undefined;
}): Page {
  const limit = Number(request.limit ?? DEFAULT_LIMIT);
  return { limit, offset: (Number(request.page ?? 1n) - 1) * limit };
}

/** Where lists are read. */
export type ListSource = ProjectQueryable & Pick<Database, "replica">;

/** The replica if there is one: rows of lists may be as old as it is. */
export const listReads = (source: ListSource, projectId: string): Queryable =>
  (source.replica ?? source).inProject(projectId);

/** One page of a list, whether more rows follow it, and the number of rows on all pages; from the replica if there is one. */
export async function readPage<Row extends QueryResultRow>(
  source: ListSource,
  {
    projectId,
    columns,
    from,
    counted: countedFrom = from,
    order,
    values,
    limit,
    offset,
    completed,
    planning,
    after,
  }: PageQuery,
): Promise<{
  readonly rows: readonly Row[];
  readonly total: bigint;
  readonly hasMore: boolean;
}> {
  const db = listReads(source, projectId);
  const position =
    after === undefined ? "" : `and ${after.column} ${after.operator} $${values.length + 1}::text`;
  const page = `${from} ${position} order by ${order} limit ${limit + 1} offset ${offset}`;
  const [{ rows }, counted] = await Promise.all([
    db.query<Row>({
      text:
        completed === undefined
          ? `select ${columns} ${page}`
          : `select ${columns} from (select ${completed.alias}.* ${page}) as ${completed.alias}
             ${completed.joins} order by ${order}`,
      values: after === undefined ? values : [...values, after.value],
      ...(planning !== undefined && { planning }),
    }),
    countRows(db, countedFrom, values, planning),
  ]);
  const shown = rows.slice(0, limit);
  const hasMore = rows.length > limit;
  const found = { offset, found: rows.length };
  // The last page tells the total, which an estimate may miss. Behind the end, and after a position, a page does not.
  const isLast = after === undefined && !hasMore && (rows.length > 0 || offset === 0);
  const total = isLast ? BigInt(offset + rows.length) : consistentTotal(counted, found);
  return { rows: shown, total, hasMore };
}
