import { ApiError } from "@scrip/errors";
import {
  compileFilters,
  compilePredicate,
  type FilterFields,
  jsonMember,
  memberOf,
  type Predicate,
  type RecordFields,
  type TimeContext,
} from "@scrip/filters";
import type { BulkReads, Database, Statement } from "@scrip/postgres";

import {
  type ExportedObject,
  type FieldType,
  filterFieldsOf,
  metadataKey,
  specOf,
} from "./catalogue.ts";
import { csvLines, guardedSql, guardText } from "./csv.ts";
import type { ExportColumn, ExportTable } from "./export-table.ts";

export type ExportRequest = {
  readonly object: ExportedObject;
  readonly fields: readonly string[];
  /** A leading `-` sorts descending. */
  readonly order: string;
  /** The tree of filters; fields of other services are not among them. */
  readonly filters: unknown;
  readonly campaignId?: string | undefined;
  readonly voucherId?: string | undefined;
  /** Returns all rows; the first cell of each says whether it matches the filters. */
  readonly marksMatches?: boolean | undefined;
  /** Only checks the request. */
  readonly validateOnly?: boolean | undefined;
  readonly call: {
    readonly now: number;
    readonly project: { readonly id: string } & Omit<TimeContext, "now">;
  };
};

type Source = { readonly table: ExportTable; readonly request: ExportRequest };

/**
 * The rows of an export as CSV without a header, in chunks of one snapshot. Where all fields are columns, Postgres
 * writes the text; messages and JSON are decoded here, which takes about five times as long.
 */
export function exportRows(
  bulkOf: Database["bulk"],
  table: ExportTable,
  request: ExportRequest,
): AsyncIterable<Buffer> {
  const source = { table, request };
  const bulk = bulkOf(request.call.project.id);
  const filtered = filteredFields(request.filters);
  const filtersRecords = filtered.some((field) => isDecoded(source, field));
  if (filtersRecords || request.fields.some((field) => needsCode(source, field))) {
    const records = recordsStatement(source, filtersRecords ? filtered : []);
    return request.validateOnly ? NO_ROWS : decodedRows(bulk, source, records);
  }
  const { fields: cells, filters, marksMatches: marks } = request;
  const statement = statementOf(source, { cells, filters, marks });
  return request.validateOnly ? NO_ROWS : bulk.copyCsv(statement);
}

// oxlint-disable-next-line eslint/require-yield, typescript/require-await -- it has none
const NO_ROWS: AsyncIterable<Buffer> = { async *[Symbol.asyncIterator]() {} };

/** Whether SQL cannot read the value, and so cannot filter by it. */
const isDecoded = ({ table }: Source, field: string): boolean =>
  (table.columns[field] ?? table.columns["metadata"])?.decode !== undefined;

/** Postgres writes JSON with spaces. */
const CODE_TYPES: ReadonlySet<FieldType> = new Set(["json", "array"]);

const needsCode = (source: Source, field: string): boolean =>
  isDecoded(source, field) || CODE_TYPES.has(typeOf(source, field));

const filteredFields = (filters: unknown): readonly string[] =>
  Object.keys(filters ?? {}).filter((name) => name !== "junction");

type Records = {
  readonly statement: Statement;
  /** What the statement reads. */
  readonly fields: readonly string[];
  readonly matches: Predicate<RecordOf>;
};

/** `filtered` are the fields of filters that SQL cannot evaluate. */
function recordsStatement(source: Source, filtered: readonly string[]): Records {
  const { fields, filters, marksMatches } = source.request;
  const marks = marksMatches === true && filtered.length === 0;
  const raw = [...new Set([...fields, ...filtered])];
  // First: it rejects fields that no column contains.
  const matches = filtered.length === 0 ? () => true : predicateOf(source, filters);
  return {
    statement: statementOf(source, { raw, filters: filtered.length === 0 ? filters : {}, marks }),
    fields: raw,
    matches,
  };
}

async function* decodedRows(
  bulk: BulkReads,
  source: Source,
  { statement, fields: read, matches }: Records,
): AsyncIterable<Buffer> {
  const { fields, call, marksMatches = false } = source.request;
  const time = { now: call.now, ...call.project };
  for await (const rows of bulk.readRows<Row>(statement)) {
    const lines = rows.flatMap((row) => {
      const record = decodeRow(source, read, row);
      const isMatch = row[MARK] !== false && matches(record, time);
      if (!isMatch && !marksMatches) return [];
      const cells = fields.map((field) => cellOf(typeOf(source, field), record.get(field)));
      return [marksMatches ? [String(isMatch), ...cells] : cells];
    });
    if (lines.length > 0) yield csvLines(lines);
  }
}

type Row = Readonly<Record<string, unknown>>;

/** The column of a statement that marks its rows. */
const MARK = "is_match";
type RecordOf = ReadonlyMap<string, unknown>;

function decodeRow(source: Source, fields: readonly string[], row: Row): RecordOf {
  return new Map(
    fields.map((field, index) => {
      const value = row[`f${index}`] ?? null;
      const { decode } = columnOf(source, field);
      return [field, decode === undefined || value === null ? value : (decode(value) ?? null)];
    }),
  );
}

/** Filters over decoded values, which agree with those of SQL. */
function predicateOf(source: Source, filters: unknown): Predicate<RecordOf> {
  const fields = filterFieldsOf(source.request.object);
  const recordFields: RecordFields<RecordOf> = {
    named: Object.fromEntries(
      Object.entries(fields).map(([name, type]) => [
        name,
        { type, read: (record: RecordOf) => comparable(type, record.get(name)) },
      ]),
    ),
    prefixed: {
      "metadata.": (key) => ({
        type: "json",
        read: (record) => record.get(`metadata.${key}`) ?? null,
      }),
    },
  };
  const compiled = compilePredicate(filters, recordFields);
  if (compiled.kind === "violation") {
    throw new ApiError("invalid_payload", { details: compiled.text });
  }
  return compiled.matches;
}

/** As `RecordValue` says. */
function comparable(type: FieldType, value: unknown): unknown {
  if (value instanceof Date) return value.getTime();
  if (type === "array" && Array.isArray(value)) return value.map(String);
  return type === "number" && typeof value === "number" ? BigInt(value) : (value ?? null);
}

function cellOf(type: FieldType, value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (value instanceof Date) return value.toISOString();
  if (typeof value === "string") return type === "number" ? value : guardText(value);
  // oxlint-disable-next-line typescript/no-base-to-string -- a number or a boolean
  return typeof value === "object" ? guardText(JSON.stringify(value)) : String(value);
}

/** SQL of the text of a field in the file. */
function cellSql(source: Source, field: string): string {
  const { sql, cell } = columnOf(source, field);
  if (cell !== undefined) return cell;
  switch (typeOf(source, field)) {
    case "text":
      return guardedSql(sql);
    case "boolean":
      return `case ${sql} when true then 'true' when false then 'false' end`;
    case "date":
      return `to_char(${sql} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
    case "number":
    case "day":
    case "array":
    case "json":
    default:
      return `${sql}::text`;
  }
}

function statementOf(
  source: Source,
  {
    cells,
    raw,
    filters,
    marks = false,
  }: {
    readonly cells?: readonly string[];
    readonly raw?: readonly string[];
    readonly filters: unknown;
    readonly marks?: boolean | undefined;
  },
): Statement {
  const { table, request } = source;
  const values: unknown[] = [request.call.project.id];
  const { now, project } = request.call;
  const context = { ...project, now, values, fields: columnFilters(source) };
  const compiled = compileFilters(filters ?? {}, context);
  if (compiled.kind === "violation") {
    throw new ApiError("invalid_payload", { details: compiled.text });
  }
  const isMatch = `(${compiled.text}) is true`;
  const mark =
    cells === undefined
      ? `${isMatch} as ${MARK}`
      : `case when ${isMatch} then 'true' else 'false' end`;
  const selected = [
    ...(marks ? [mark] : []),
    ...(cells?.map((field) => cellSql(source, field)) ??
      raw?.map((field, index) => `${columnOf(source, field).sql} as f${index}`) ??
      []),
  ];
  const descending = request.order.startsWith("-");
  const by = request.order.replace(/^-/, "");
  const direction = descending ? "desc" : "asc";
  const sql = table.orders?.[by] ?? columnOf(source, by).sql;
  return {
    text: `select ${selected.join(", ")} ${table.from} and ${[marks ? "true" : compiled.text, ...scopesOf(source, values)].join(" and ")}
            order by ${sql} ${direction}, ${table.id} ${direction}`,
    values,
  };
}

function scopesOf({ table, request }: Source, values: unknown[]): readonly string[] {
  const { campaignId, voucherId } = request;
  const only = (sql: string | undefined, id: string): string => {
    if (sql === undefined) throw new Error(`${request.object} has no such scope`);
    values.push(id);
    return `${sql} = $${values.length}`;
  };
  return [
    ...(campaignId === undefined ? [] : [only(table.scopes?.campaign, campaignId)]),
    ...(voucherId === undefined ? [] : [only(table.scopes?.voucher, voucherId)]),
  ];
}

const columnFilters = ({ table, request }: Source): FilterFields => {
  const { metadata } = table.columns;
  return {
    named: Object.fromEntries(
      Object.entries(filterFieldsOf(request.object)).flatMap(([name, type]) => {
        const column = table.columns[name];
        if (column === undefined || column.decode !== undefined) return [];
        const { sql, key, states } = column;
        return [[name, { type, sql, ...(key && { key }), ...(states && { states }) }]];
      }),
    ),
    ...(metadata !== undefined && { prefixed: { "metadata.": jsonMember(metadata.sql) } }),
  };
};

function columnOf({ table, request }: Source, field: string): ExportColumn {
  const column = Object.hasOwn(table.columns, field) ? table.columns[field] : undefined;
  if (column !== undefined) return column;
  const key = metadataKey(specOf(request.object), field);
  const { metadata } = table.columns;
  if (key === undefined || metadata === undefined) throw new Error(`no column for ${field}`);
  const { decode } = metadata;
  const member = (value: unknown): unknown => memberOf((value ?? {}) as Row, key);
  return { sql: metadata.sql, decode: (raw) => member(decode === undefined ? raw : decode(raw)) };
}

const typeOf = ({ request }: Source, field: string): FieldType =>
  filterFieldsOf(request.object)[field] ?? "json";
