import { isDay } from "../is-day.ts";
import { ColumnFault, RowFault } from "./moved-item.ts";
import type { TableRow } from "./table.ts";

/** Columns have the labels of the dashboard or the names of the API. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  loyalty_balance: ["loyalty_card_balance"],
  redemption_quantity: ["redemption_limit"],
  redemption_count: ["redeemed_quantity"],
  birthdate: ["birthday"],
};

export const textOf = ({ cells }: Pick<TableRow, "cells">, column: string): string =>
  [column, ...(ALIASES[column] ?? [])].map((name) => cells.get(name)).find(Boolean) ?? "";

/** Fails unless the file has one of the columns. */
export function needColumn({ cells }: TableRow, label: string, columns: readonly string[]): void {
  if (!columns.some((column) => cells.has(column))) {
    throw new ColumnFault(`column ${label} is missing`);
  }
}

/** Minor units: two decimals are major units, an integer is minor units. */
export function amountOf(row: TableRow, column: string): bigint | undefined {
  const text = textOf(row, column);
  if (text === "") return undefined;
  const [, major, minor] = /^(\d{1,14})(?:\.(\d{1,2}))?$/.exec(text) ?? [];
  if (major === undefined) throw faultOf(column, text, "an amount");
  return minor === undefined ? BigInt(major) : BigInt(major) * 100n + BigInt(minor.padEnd(2, "0"));
}

export function integerOf(row: TableRow, column: string): string {
  const text = textOf(row, column);
  if (text !== "" && !/^\d{1,15}(?:\.0+)?$/.test(text)) throw faultOf(column, text, "an integer");
  return text.replace(/\..*/, "");
}

export function booleanOf(row: TableRow, column: string): string {
  const text = textOf(row, column).toLowerCase();
  if (text !== "" && text !== "true" && text !== "false")
    throw faultOf(column, text, "true or false");
  return text;
}

const ISO_DATE = /^\d{4}-\d\d-\d\d(?:[T ][\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?$/;

/** Times without a zone are UTC. */
export function dateOf(row: TableRow, column: string): string {
  const text = textOf(row, column);
  if (text === "") return "";
  const hasZone = /(?:Z|[+-]\d\d:?\d\d)$/.test(text.slice(10));
  const time = Date.parse(text.length > 10 && !hasZone ? `${text.replace(" ", "T")}Z` : text);
  const isDate = ISO_DATE.test(text) && isDay(text.slice(0, 10)) && !Number.isNaN(time);
  if (!isDate) throw faultOf(column, text, "a date (ISO 8601)");
  return new Date(time).toISOString();
}

export const dayOf = (row: TableRow, column: string): string => dateOf(row, column).slice(0, 10);

export const faultOf = (column: string, text: string, expected: string): RowFault =>
  new RowFault(`${column} must be ${expected}, not "${text}"`);
