import type { QueryResultRow } from "pg";

import { countRows, consistentTotal } from "./count-rows.ts";
import type { Queryable } from "./queryable.ts";
import {
  boundOf,
  cursorBehind,
  cursorFromTimestamp,
  type CursorOrder,
  type CursorTimestamp,
  cursorToTimestamp,
  type TimeCursor,
} from "./time-cursor.ts";

/** Sorts by a column and breaks ties by id, in the same direction. */
export type TimeListOrder = CursorOrder & { readonly column: string; readonly id: string };

export type TimePageQuery<Row> = {
  /** From `from` to the end of `where`. */
  readonly from: string;
  readonly values: readonly unknown[];
  readonly order: TimeListOrder;
  /** The value of the column that the list is sorted by; null: it is not a time, and the list has no cursors. */
  readonly timeOf: ((row: Row) => Date | null) | null;
  readonly startingAfter: Pick<CursorTimestamp, "seconds" | "nanos"> | undefined;
  readonly limit: number;
  readonly offset: number;
  /** The statement that reads the rows of `page`, which begins with `from`. */
  readonly select: (page: string) => string;
};

type Position = {
  readonly cursor: TimeCursor;
  /** SQL conditions: items from the position on, and items at its time. */
  readonly follows: string;
  readonly isAtTime: string;
  readonly values: readonly unknown[];
};

/** The rows between the cursor of the request and the page, of which `skipped` are at the time of the cursor. */
type Earlier = {
  readonly cursor: TimeCursor | undefined;
  readonly skipped: number;
  readonly sql: string;
  readonly values: readonly unknown[];
};

/**
 * One page of a list that can be continued at a time, the cursor of the next page while there is one, and the number
 * of rows on all pages, which includes those before the cursor.
 */
export async function readTimePage<Row extends QueryResultRow>(
  db: Queryable,
  query: TimePageQuery<Row>,
): Promise<{
  readonly rows: readonly Row[];
  readonly total: bigint;
  readonly hasMore: boolean;
  readonly moreStartingAfter: CursorTimestamp | undefined;
}> {
  const { from, values, order, limit, startingAfter } = query;
  const position =
    startingAfter && positionAt(cursorFromTimestamp(startingAfter, order), order, values.length);
  const skipped = position === undefined ? 0 : await countSkipped(db, query, position);
  const behind = position === undefined ? "" : `and ${position.follows}`;
  const ordered = `${from} ${behind} order by ${orderByTime(order)}`;
  const bound = [...values, ...(position?.values ?? [])];
  const offset = skipped + query.offset;
  const [{ rows: found }, counted] = await Promise.all([
    db.query<Row>(query.select(`${ordered} limit ${limit + 1} offset ${offset}`), bound),
    countRows(db, from, values),
  ]);
  const rows = found.slice(0, limit);
  const hasMore = found.length > limit;
  const earlier = {
    cursor: position?.cursor,
    skipped,
    sql: `select ${order.column} as sorted ${ordered} limit ${offset}`,
    values: bound,
  };
  return {
    rows,
    total: consistentTotal(counted, { offset, found: found.length }),
    hasMore,
    moreStartingAfter: hasMore ? await nextCursor(db, query, rows, earlier) : undefined,
  };
}

/** SQL of an order; `nulls last` only where there are nulls, because it would prevent a backward scan of an index. */
export function orderByTime({ column, id, descending, nullable }: TimeListOrder): string {
  const direction = descending ? "desc" : "asc";
  return `${column} ${direction}${nullable ? " nulls last" : ""}, ${id} ${direction}`;
}

/**
 * The parameters of the conditions follow `count` others. They compare milliseconds, as the rows are read: `created_at`
 * and `updated_at` are written with milliseconds, but their columns can hold microseconds.
 */
function positionAt(cursor: TimeCursor, order: TimeListOrder, count: number): Position {
  const { column, nullable } = order;
  const { at, seen } = cursor;
  const isNull = `${column} is null`;
  if (at === null) return { cursor, follows: isNull, isAtTime: isNull, values: [] };
  const { operator, ms } = boundOf({ at, seen }, order);
  const follows = `${column} ${operator} $${count + 1}::timestamptz`;
  return {
    cursor,
    follows: nullable ? `(${follows} or ${isNull})` : follows,
    isAtTime: `${column} >= $${count + 1}::timestamptz and ${column} < $${count + 2}::timestamptz`,
    values: [new Date(ms)],
  };
}

/** Rows at the time of the cursor that the client has seen; no more than exist, since some may be deleted since. */
async function countSkipped<Row>(
  db: Queryable,
  { from, values }: TimePageQuery<Row>,
  { cursor: { at, seen }, isAtTime }: Position,
): Promise<number> {
  if (seen === "all" || seen === 0) return 0;
  const { rows } = await db.query<{ skipped: bigint }>(
    `select count(*) as skipped from (select ${from} and ${isAtTime} limit ${seen}) same`,
    at === null ? values : [...values, new Date(at), new Date(at + 1)],
  );
  return Number(rows[0]?.skipped ?? 0n);
}

async function nextCursor<Row>(
  db: Queryable,
  { order, offset, timeOf }: TimePageQuery<Row>,
  rows: readonly Row[],
  earlier: Earlier,
): Promise<CursorTimestamp | undefined> {
  if (timeOf === null) return undefined;
  const [first, ...others] = rows.map((row) => timeOf(row)?.getTime() ?? null);
  if (first === undefined) return undefined;
  const { cursor, skipped } = earlier;
  let seen = cursor?.at === first ? skipped : 0;
  // Only a page of one time continues the items before it.
  if (offset > 0 && others.every((time) => time === first)) {
    seen = await countAtTime(db, first, earlier);
  }
  return cursorToTimestamp(cursorBehind([first, ...others], { at: first, seen }), order);
}

async function countAtTime(
  db: Queryable,
  time: number | null,
  { sql, values }: Earlier,
): Promise<number> {
  const [from, until] = [values.length + 1, values.length + 2];
  const { rows } = await db.query<{ seen: bigint }>(
    time === null
      ? `select count(*) as seen from (${sql}) earlier where sorted is null`
      : `select count(*) as seen from (${sql}) earlier
          where sorted >= $${from}::timestamptz and sorted < $${until}::timestamptz`,
    time === null ? values : [...values, new Date(time), new Date(time + 1)],
  );
  return Number(rows[0]?.seen ?? 0n);
}
