import {
  type ArrayValue,
  boolArray,
  byteaArray,
  int4Array,
  int8Array,
  sparseBytea,
  sparseInt4,
  sparseInt8,
  sparseText,
  textArray,
  timestampArray,
} from "./arrays.ts";
import type { Statement } from "./statement.ts";

/**
 * Statements with many parameters, built from one table of columns: one line defines a column's
 * name, its SQL type and its value of a row, so that neither parameters nor columns are counted by hand.
 */

export type Column<Row> = {
  /** SQL type of the value of one row. */
  readonly type: string;
  /** Cast of the parameter that carries the values of a batch; undefined: one row at a time only. */
  readonly batchCast?: string;
  readonly value: (row: Row) => unknown;
  readonly encode?: (rows: readonly Row[]) => ArrayValue | null;
};

/** By column name, in the order of the statement. */
export type ColumnTable<Row> = Readonly<Record<string, Column<Row>>>;

/** The names of the columns, for `insert into t (…)`, and with the alias of the table for `select …`. */
export const columnNames = (table: ColumnTable<never>, alias?: string): string =>
  Object.keys(table)
    .map((name) => (alias === undefined ? name : `${alias}.${name}`))
    .join(", ");

/** For `update … set … from …`: the columns take the values of the row with this alias. */
export const assignmentsFrom = (table: ColumnTable<never>, alias: string): string =>
  Object.keys(table)
    .map((name) => `${name} = ${alias}.${name}`)
    .join(", ");

/** For `on conflict … do update set …`: the columns take the values of the row that was not inserted. */
export const excludedAssignments = (table: ColumnTable<never>): string =>
  assignmentsFrom(table, "excluded");

/** For `on conflict … do update set …` of counters: adds the values of the row that was not inserted, or subtracts them. */
export const summedAssignments = (
  table: ColumnTable<never>,
  alias: string,
  sign: "+" | "-" = "+",
): string =>
  Object.keys(table)
    .map((name) => `${name} = ${alias}.${name} ${sign} excluded.${name}`)
    .join(", ");

/**
 * The types that columns have. A `sparse` column is mostly NULL: a batch without any value sends nothing,
 * since `unnest` fills up what is shorter than its longest array. At least one column must not be sparse.
 */
export const column = {
  text: <Row>(value: (row: Row) => string | null): Column<Row> => ({
    ...typed("text", value),
    encode: (rows) => textArray(rows.map(value)),
  }),
  sparseText: <Row>(value: (row: Row) => string | null): Column<Row> => ({
    ...typed("text", value),
    encode: (rows) => sparseText(rows.map(value)),
  }),
  int4: <Row>(value: (row: Row) => number): Column<Row> => ({
    ...typed("int4", value),
    encode: (rows) => int4Array(rows.map(value)),
  }),
  sparseInt4: <Row>(value: (row: Row) => number | null): Column<Row> => ({
    ...typed("int4", value),
    encode: (rows) => sparseInt4(rows.map(value)),
  }),
  int8: <Row>(value: (row: Row) => bigint | null): Column<Row> => ({
    ...typed("int8", value),
    encode: (rows) => int8Array(rows.map(value)),
  }),
  sparseInt8: <Row>(value: (row: Row) => bigint | null): Column<Row> => ({
    ...typed("int8", value),
    encode: (rows) => sparseInt8(rows.map(value)),
  }),
  bytea: <Row>(value: (row: Row) => Uint8Array | null): Column<Row> => ({
    ...typed("bytea", value),
    encode: (rows) => byteaArray(rows.map(value)),
  }),
  sparseBytea: <Row>(value: (row: Row) => Uint8Array | null): Column<Row> => ({
    ...typed("bytea", value),
    encode: (rows) => sparseBytea(rows.map(value)),
  }),
  bool: <Row>(value: (row: Row) => boolean): Column<Row> => ({
    ...typed("bool", value),
    encode: (rows) => boolArray(rows.map(value)),
  }),
  /** Epoch milliseconds. */
  timestamp: <Row>(value: (row: Row) => number | null): Column<Row> => ({
    ...typed("timestamptz", (row: Row) => dateOf(value(row))),
    encode: (rows) => timestampArray(rows.map(value)),
  }),
  /** `YYYY-MM-DD`. */
  date: <Row>(value: (row: Row) => string | null): Column<Row> => ({
    type: "date",
    batchCast: "text[]::date[]",
    value,
    encode: (rows) => sparseText(rows.map(value)),
  }),
  /** Serialised JSON; batches carry it as text, because jsonb has no binary arrays here. */
  json: <Row>(value: (row: Row) => string | null): Column<Row> => ({
    type: "jsonb",
    batchCast: "text[]::jsonb[]",
    value,
    encode: (rows) => sparseText(rows.map(value)),
  }),
  /** Any other type, one row at a time. */
  single: <Row>(type: string, value: (row: Row) => unknown): Column<Row> => ({ type, value }),
};

const typed = <Row>(type: string, value: (row: Row) => unknown) => ({
  type,
  batchCast: `${type}[]`,
  value,
});

const dateOf = (instant: number | null): Date | null =>
  instant === null ? null : new Date(instant);

/** A part of a statement that brings its own parameters. */
export type StatementPart<Input, Sql> = {
  readonly parameters: number;
  /** SQL whose parameters begin with this number. */
  readonly sql: (first: number) => Sql;
  readonly values: (input: Input) => readonly unknown[];
};

export type BatchSql = {
  /** The columns, for `insert into t (…)` and `select …`. */
  readonly columns: string;
  /** The rows of the batch, for `from …`. */
  readonly rows: (alias: string) => string;
  /** As `rows`, with the column `position`, which counts from 1. */
  readonly numberedRows: (alias: string) => string;
};

/** Builds a statement over many rows: one array parameter per column, read with `unnest`. */
export function batchOf<Row>(table: ColumnTable<Row>): StatementPart<readonly Row[], BatchSql> {
  const entries = Object.entries(table).map(([name, one]) => {
    const { batchCast, encode } = one;
    if (batchCast === undefined || encode === undefined) {
      throw new Error(`column ${name} of type ${one.type} cannot be part of a batch`);
    }
    return { name, batchCast, encode };
  });
  const columns = columnNames(table);
  return {
    parameters: entries.length,
    sql: (first) => {
      const arrays = entries.map(({ batchCast }, index) => `$${first + index}::${batchCast}`);
      const rows = `unnest(${arrays.join(", ")})`;
      return {
        columns,
        rows: (alias) => `${rows} as ${alias} (${columns})`,
        numberedRows: (alias) => `${rows} with ordinality as ${alias} (${columns}, position)`,
      };
    },
    values: (rows) => entries.map(({ encode }) => encode(rows)),
  };
}

export type RowSql = {
  readonly columns: string;
  /** The values, for `values (…)`. */
  readonly values: string;
  /** For `update t set …`. */
  readonly assignments: string;
  /** For `where …`: all columns have these values. */
  readonly condition: string;
  /** The value of one column. */
  readonly value: (column: string) => string;
};

/** One row: one parameter for each column. */
export function rowOf<Row>(table: ColumnTable<Row>): StatementPart<Row, RowSql> {
  const entries = Object.entries(table);
  const names = entries.map(([name]) => name);
  return {
    parameters: entries.length,
    sql: (first) => {
      const values = entries.map(([, { type }], index) => `$${first + index}::${type}`);
      const pairs = names.map((name, index) => `${name} = ${values[index]}`);
      return {
        columns: columnNames(table),
        values: values.join(", "),
        assignments: pairs.join(", "),
        condition: pairs.join(" and "),
        value: (name) => {
          const value = values[names.indexOf(name)];
          if (value === undefined) throw new Error(`there is no column ${name}`);
          return value;
        },
      };
    },
    values: (input) => entries.map(([, { value }]) => value(input)),
  };
}

/** The primary key of most tables. */
export type RowKey = { readonly projectId: string; readonly id: string };

/** The primary key of most tables, as a part of their statements. */
export const rowKeyPart: StatementPart<RowKey, RowSql> = rowOf({
  project_id: column.text(({ projectId }) => projectId),
  id: column.text(({ id }) => id),
});

/** The tenant of a row, for rows that do not contain it. */
export const projectIdPart: StatementPart<string, RowSql> = rowOf({
  project_id: column.text((projectId) => projectId),
});

// One record combines parts of different row types.
// oxlint-disable-next-line typescript/no-explicit-any
type Parts = Readonly<Record<string, StatementPart<any, unknown>>>;

type SqlOf<Some extends Parts> = {
  readonly [Name in keyof Some]: ReturnType<Some[Name]["sql"]>;
};

type InputOf<Some extends Parts> = {
  readonly [Name in keyof Some]: Parameters<Some[Name]["values"]>[0];
};

/**
 * Numbers the parameters of all parts once, when the module is loaded, so that the text is constant and
 * can be prepared by its name. The result gives the statement for actual rows.
 */
export function buildStatement<Some extends Parts>({
  name,
  planning,
  parts,
  text,
}: Pick<Statement, "planning"> & {
  /** Prepared under this name; without one it is planned each time. */
  readonly name?: string;
  readonly parts: Some;
  readonly text: (sql: SqlOf<Some>) => string;
}): (input: InputOf<Some>) => Statement {
  const entries = Object.entries(parts);
  let next = 1;
  const sql: Record<string, unknown> = {};
  for (const [key, part] of entries) {
    sql[key] = part.sql(next);
    next += part.parameters;
  }
  const built = text(sql as SqlOf<Some>);
  return (input) => ({
    ...(name !== undefined && { name }),
    ...(planning !== undefined && { planning }),
    text: built,
    values: entries.flatMap(([key, part]) => part.values(input[key as keyof Some])),
  });
}

type Entity = { readonly id: string };
type EntityStatement<Row> = (projectId: string, row: Row) => Statement;

/** Inserts one row of a table whose key is the project and the id; `columns` are all others. */
export function insertInto<Row extends Entity>(
  table: string,
  columns: ColumnTable<Row>,
): EntityStatement<Row> {
  const statement = buildStatement({
    parts: { key: rowKeyPart, row: rowOf(columns) },
    text: ({ key, row }) =>
      `insert into ${table} (${key.columns}, ${row.columns}) values (${key.values}, ${row.values})`,
  });
  return (projectId, row) => statement({ key: { projectId, id: row.id }, row });
}

/** Writes these columns of one row of a table whose key is the project and the id. */
export function updateOf<Row extends Entity>(
  table: string,
  columns: ColumnTable<Row>,
): EntityStatement<Row> {
  const statement = buildStatement({
    parts: { key: rowKeyPart, row: rowOf(columns) },
    text: ({ key, row }) => `update ${table} set ${row.assignments} where ${key.condition}`,
  });
  return (projectId, row) => statement({ key: { projectId, id: row.id }, row });
}
