import { stringify } from "csv-stringify/sync";

/** Spreadsheets read a cell that starts with one of these as a formula (OWASP, CSV injection). */
const FORMULA_STARTS: readonly string[] = ["=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠"];

/** Text that a spreadsheet shows and does not evaluate. */
export const guardText = (text: string): string =>
  FORMULA_STARTS.includes(text.charAt(0)) ? `'${text}` : text;

const SQL_STARTS = FORMULA_STARTS.map((start) => `'${start}'`).join(", ");

/** `guardText` as SQL. */
export const guardedSql = (sql: string): string =>
  `case when left(${sql}, 1) in (${SQL_STARTS}) then '''' || ${sql} else ${sql} end`;

/** Many programs read a CR without quotes as the end of a record; csv-stringify quotes only the delimiters that it writes. */
const STRINGIFY = { record_delimiter: "\n", quoted_match: "\r" } as const;

/** Lines of CSV: UTF-8, commas, RFC 4180 quotes, LF. */
export const csvLines = (rows: readonly (readonly (string | null)[])[]): Buffer =>
  Buffer.from(stringify(rows as (string | null)[][], STRINGIFY));

/** The label of a field: `voucher_type` is "Voucher Type", `customer_id` is "Customer ID". */
export const headerOf = (field: string): string =>
  guardText(
    field.startsWith("metadata.")
      ? `Metadata ${field.slice("metadata.".length)}`
      : field
          .split("_")
          .map((word) => (word === "id" ? "ID" : word.charAt(0).toUpperCase() + word.slice(1)))
          .join(" "),
  );
