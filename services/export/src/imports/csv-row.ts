import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { parseTimestamp } from "@scrip/contract";
import { instantToProto } from "@scrip/mapping";
import { readCell, type Schemas } from "@scrip/metadata";

/** A cell that cannot be read; the row fails. */
export class CellFault extends Error {}

/** A byte that is not UTF-8 is decoded as U+FFFD; PostgreSQL stores no NUL. */
const UNREADABLE = /[\0\uFFFD]/;

export const isReadable = (text: string): boolean => !UNREADABLE.test(text);

/** For the name of a row that fails. */
export const withoutNul = (text: string): string => text.replaceAll("\0", "\uFFFD");

/** `Start Date`, `start_date` and `START DATE` are one column. */
export const normalisedColumn = (name: string): string =>
  name
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_]+/g, "_");

export type CsvFormat = {
  /** Names of the columns, as the file has them. */
  readonly columns: readonly string[];
  /** Normalised names of columns that are not metadata. */
  readonly known: ReadonlySet<string>;
  readonly schemas: Schemas;
};

const INTEGER = /^[+-]?\d{1,16}$/;

/** The cells of a row by column, read by type. Empty cells are absent. */
export class CsvRow {
  readonly #cells = new Map<string, { readonly name: string; readonly text: string }>();
  readonly #metadata: readonly { readonly key: string; readonly text: string }[];
  readonly #listed: ReadonlySet<string>;
  readonly #schemas: Schemas;
  readonly cells: readonly string[];

  constructor({ columns, known, schemas }: CsvFormat, cells: readonly string[]) {
    this.cells = cells;
    const metadata: { key: string; text: string }[] = [];
    for (const [index, name] of columns.entries()) {
      const column = normalisedColumn(name);
      const text = cells[index] ?? "";
      if (known.has(column)) {
        if (text !== "") this.#cells.set(column, { name, text });
      } else if (column !== "") metadata.push({ key: name.trim(), text });
    }
    this.#metadata = metadata;
    this.#listed = new Set(columns.map(normalisedColumn).filter((column) => known.has(column)));
    this.#schemas = schemas;
  }

  /** The known columns of the file. */
  get listed(): ReadonlySet<string> {
    return this.#listed;
  }

  text(column: string): string | undefined {
    return this.#cells.get(column)?.text;
  }

  integer(column: string): bigint | undefined {
    return this.#read(column, "a non-negative integer", (text) => {
      const value = INTEGER.test(text.trim()) ? BigInt(text.trim()) : -1n;
      return value < 0n || value > BigInt(Number.MAX_SAFE_INTEGER) ? undefined : value;
    });
  }

  boolean(column: string): boolean | undefined {
    return this.#read(column, "true or false", (text) => {
      const lower = text.trim().toLowerCase();
      return lower === "true" ? true : lower === "false" ? false : undefined;
    });
  }

  date(column: string) {
    const instant = this.#read(column, "a date (ISO 8601)", (text) => parseTimestamp(text.trim()));
    return instant === undefined ? undefined : instantToProto(instant);
  }

  /** One of several texts, whatever their letter case. */
  oneOf<Value extends string>(column: string, values: readonly Value[]): Value | undefined {
    return this.#read(column, `one of ${values.join(", ")}`, (text) =>
      values.find((value) => value === text.trim().toUpperCase()),
    );
  }

  fault(column: string, expected: string): CellFault {
    const { name, text } = this.#cells.get(column) ?? { name: column, text: "" };
    return new CellFault(`${name}: must be ${expected} (actual value is '${shortened(text)}')`);
  }

  /** Columns without another meaning, by the types of the schema. Empty cells are left out, or null if they replace. */
  metadata(resource: string, empty: "absent" | "null" = "absent"): JsonObject {
    const definitions = this.#schemas.get(resource)?.properties ?? {};
    const values: Record<string, JsonValue> = {};
    for (const { key, text } of this.#metadata) {
      if (text !== "") {
        const definition = Object.hasOwn(definitions, key) ? definitions[key] : undefined;
        values[key] = readCell(text, definition);
      } else if (empty === "null") values[key] = null;
    }
    return values;
  }

  #read<Value>(
    column: string,
    expected: string,
    read: (text: string) => Value | undefined,
  ): Value | undefined {
    const cell = this.#cells.get(column);
    if (cell === undefined) return undefined;
    const value = read(cell.text);
    if (value === undefined) throw this.fault(column, expected);
    return value;
  }
}

const MAX_QUOTED = 100;

const shortened = (text: string): string =>
  text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED).toWellFormed()}…` : text;
