import type { Validity } from "@scrip/rules";

import type { Category } from "../domain/category.ts";

/** The columns of time limits, which campaigns and tiers have alike. */
export type ValidityRow = {
  start_date: Date | null;
  expiration_date: Date | null;
  validity_timeframe: Validity["timeframe"];
  validity_day_of_week: number[] | null;
  validity_hours: Validity["hours"];
};

export const fromValidityRow = (row: ValidityRow): Validity => ({
  startDate: row.start_date?.getTime() ?? null,
  expirationDate: row.expiration_date?.getTime() ?? null,
  timeframe: row.validity_timeframe,
  daysOfWeek: row.validity_day_of_week,
  hours: row.validity_hours,
});

/** In the order of the columns above. */
export const validityValues = (validity: Validity): unknown[] => [
  toDate(validity.startDate),
  toDate(validity.expirationDate),
  toJson(validity.timeframe),
  validity.daysOfWeek,
  toJson(validity.hours),
];

export const toDate = (instant: number | null): Date | null =>
  instant === null ? null : new Date(instant);

export const toJson = (value: unknown): string | null =>
  value === null ? null : JSON.stringify(value);

/** The columns of `category c`, left-joined: all null where an object is in none that exists. */
export type CategoryColumns = {
  c_id: string | null;
  c_name: string | null;
  c_hierarchy: bigint | null;
  c_created_at: Date | null;
  c_updated_at: Date | null;
};

export const CATEGORY_COLUMNS = `c.id as c_id, c.name as c_name, c.hierarchy as c_hierarchy,
  c.created_at as c_created_at, c.updated_at as c_updated_at`;

export function fromCategoryColumns(row: CategoryColumns): Category | null {
  const { c_id: id, c_name: name, c_hierarchy: hierarchy, c_created_at: createdAt } = row;
  if (id === null || name === null || hierarchy === null || createdAt === null) return null;
  return { id, name, hierarchy, createdAt, updatedAt: row.c_updated_at };
}

/** A column of the contract's list, `-` in front for descending; ties are broken by id. */
export function orderSql(order: string, alias: string): string {
  const descending = order.startsWith("-");
  const column = SORTABLE.find((name) => name === (descending ? order.slice(1) : order));
  if (column === undefined) throw new Error(`there is no order by ${order}`);
  const direction = descending ? "desc" : "asc";
  return `${alias}.${column} ${direction} nulls last, ${alias}.id ${direction}`;
}

const SORTABLE = ["created_at", "updated_at", "hierarchy"] as const;

/*
 * What the cache loads by is not prepared by name. A session keeps the plan of a named statement, and
 * one that was made while a table was small may read all of it later.
 */

/** Lays rows that say their position, counted from 1, beside what they were asked by. */
export function inOrder<Row extends { readonly position: bigint }, Value>(
  keys: readonly unknown[],
  rows: readonly Row[],
  valueOf: (row: Row) => Value,
): (Value | undefined)[] {
  const values = new Map(rows.map((row) => [Number(row.position), valueOf(row)]));
  return keys.map((_, index) => values.get(index + 1));
}
