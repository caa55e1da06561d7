import type { FilterField } from "@scrip/filters";

import type { ExportedObject } from "./catalogue.ts";

/** Where a field of an export comes from, in the service that owns the rows. */
export type ExportColumn = {
  /** The value, for filters and order; cells are made of it by the type of the field. */
  readonly sql: string;
  /** SQL of the text in the file, if it differs from that of the value. */
  readonly cell?: string;
  /** What filters for equality compare instead of the value. */
  readonly key?: FilterField["key"];
  /** State operators such as `$active`. */
  readonly states?: FilterField["states"];
  /** The value is computed from that of `sql`, such as a message; undefined shows an empty cell. */
  readonly decode?: (raw: unknown) => unknown;
};

/** An export as its owner reads it. */
export type ExportTable = {
  /** From `from` to the end of `where`; `$1` is the project. */
  readonly from: string;
  /** Fields of other services are absent; they are filled in later. */
  readonly columns: Readonly<Record<string, ExportColumn>>;
  /** SQL of sort orders that are not columns. */
  readonly orders?: Readonly<Record<string, string>>;
  /** SQL of the campaign and the voucher of a row, where exports of one of them exist. */
  readonly scopes?: { readonly campaign: string; readonly voucher: string };
  /** Breaks ties. */
  readonly id: string;
};

/** The tables of a service, by what they export. `today` is the day in the project's time zone, `YYYY-MM-DD`. */
export type ExportTables = Readonly<
  Partial<Record<ExportedObject, ExportTable | ((today: string) => ExportTable)>>
>;
