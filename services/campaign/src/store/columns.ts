import { column, type ColumnTable, orderByTime, type TimeListOrder } from "@scrip/postgres";
import type { Validity } from "@scrip/rules";

import type { Category } from "../domain/category.ts";

/** The columns of time limits, which campaigns and tiers share. */
export type ValidityRow = {
  start_date: Date | null;
  expiration_date: Date | null;
  validity_timeframe: Validity["timeframe"];
  validity_day_of_week: number[] | null;
  validity_hours: Validity["hours"];
};

export const validityFromRow = (row: ValidityRow): Validity => ({
  startDate: row.start_date?.getTime() ?? null,
  expirationDate: row.expiration_date?.getTime() ?? null,
  timeframe: row.validity_timeframe,
  daysOfWeek: row.validity_day_of_week,
  hours: row.validity_hours,
});

export const validityColumns: ColumnTable<{ readonly validity: Validity }> = {
  start_date: column.timestamp(({ validity }) => validity.startDate),
  expiration_date: column.timestamp(({ validity }) => validity.expirationDate),
  validity_timeframe: column.json(({ validity }) => optionalJsonToRow(validity.timeframe)),
  validity_day_of_week: column.single("smallint[]", ({ validity }) => validity.daysOfWeek),
  validity_hours: column.json(({ validity }) => optionalJsonToRow(validity.hours)),
};

export const optionalJsonToRow = (value: unknown): string | null =>
  value === null ? null : JSON.stringify(value);

/** The columns of `category c`, left-joined: all null for an object without a category. */
export type CategoryColumns = {
  c_id: string | null;
  c_name: string | null;
  c_hierarchy: bigint | null;
  c_created_at: Date | null;
  c_updated_at: Date | null;
};

export const CATEGORY_COLUMNS = `c.id as c_id, c.name as c_name, c.hierarchy as c_hierarchy,
  c.created_at as c_created_at, c.updated_at as c_updated_at`;

export function categoryFromColumns(row: CategoryColumns): Category | null {
  const { c_id: id, c_name: name, c_hierarchy: hierarchy, c_created_at: createdAt } = row;
  if (id === null || name === null || hierarchy === null || createdAt === null) return null;
  return { id, name, hierarchy, createdAt, updatedAt: row.c_updated_at };
}

/** `order` is a sortable column with `-` in front for descending (checked by the contract); ties are broken by id. */
export function parseOrder(
  order: string,
  alias: string,
): TimeListOrder & { readonly by: (typeof SORTABLE)[number] } {
  const descending = order.startsWith("-");
  const by = SORTABLE.find((name) => name === (descending ? order.slice(1) : order));
  if (by === undefined) throw new Error(`${order} is not a sortable column`);
  const nullable = by === "updated_at";
  return { by, column: `${alias}.${by}`, id: `${alias}.id`, descending, nullable };
}

export const orderByClause = (order: string, alias: string): string =>
  orderByTime(parseOrder(order, alias));

/** The order of lists whose request includes none. */
export const NEWEST_FIRST = "-created_at";

const SORTABLE = ["created_at", "updated_at", "hierarchy", "name"] as const;

/**
 * Aligns the rows of a cache lookup with its keys; `position` counts from 1. These lookups are not named
 * statements: a session would keep a plan that was cached while the table was small and scans all of it.
 */
export function inKeyOrder<Row extends { readonly position: bigint }, Value>(
  keys: readonly unknown[],
  rows: readonly Row[],
  valueOf: (row: Row) => Value,
): (Value | undefined)[] {
  const values = new Map(rows.map((row) => [Number(row.position), valueOf(row)]));
  return keys.map((_, index) => values.get(index + 1));
}
