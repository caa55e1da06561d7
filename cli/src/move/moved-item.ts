/** A customer or voucher to move, as plain data that can be written to disk. */
export type MovedItem = {
  /** Source id of the customer, or code of the voucher. */
  readonly key: string;
  /** Its id in the system that it comes from; empty if unknown. */
  readonly id: string;
  /** Values that Scrip should have, as text. What the file does not say is left out. */
  readonly values: Readonly<Record<string, string>>;
  /** Where to import it: name of a campaign, or empty. */
  readonly campaign: string;
  /** What to import: an object of the API, or the cells of a CSV row. */
  readonly content: Readonly<Record<string, unknown>>;
  readonly metadata: Readonly<Record<string, unknown>>;
};

/** The state of the item in Scrip. */
export type StoredItem = Pick<MovedItem, "key" | "id" | "values">;

/** A row that cannot be moved. */
export class RowFault extends Error {}

/** A file without a column that every row needs. */
export class ColumnFault extends Error {}

/** How one kind of objects is read, compared and counted. */
export type MovedKind = {
  readonly noun: string;
  /** `exported_object` and fields of the export that is compared with the files. */
  readonly exported: { readonly object: string; readonly fields: readonly string[] };
  readonly storedOf: (cells: ReadonlyMap<string, string>) => StoredItem;
  /** Counts and sums by label; they are added up over all items. */
  readonly figuresOf: (values: Readonly<Record<string, string>>) => ReadonlyMap<string, bigint>;
};
