import { fromBinary, type Message } from "@bufbuild/protobuf";
import { compileCheck } from "@scrip/contract";
import { csvLines, guardText } from "@scrip/exports";
import { metadataFaults, type Schemas, schemasFromJson } from "@scrip/metadata";
import type { Database } from "@scrip/postgres";
import { type ItemOutcome, ItemResult } from "@scrip/proto/scrip/common/v1/items_pb";
import { ItemBatchSchema } from "@scrip/proto/scrip/export/v1/imports_pb";

import type { JsonObject } from "../domain/job.ts";
import type { AnyJobDefinition, Slice, SliceOutcome } from "../jobs/job-definition.ts";
import { defineJob } from "../jobs/job-definition.ts";
import { readBytes, readPart } from "../store/import-files.ts";
import type { BulkPause } from "../webhooks/bulk-pause.ts";
import { CellFault, CsvRow, isReadable, normalisedColumn, withoutNul } from "./csv-row.ts";
import type { CsvKind, ImportInput, ImportKind } from "./import-kind.ts";
import { readCsv } from "./read-csv.ts";

/** Where a CSV file continues, or the number of the next batch of items. */
export type ImportPosition =
  | { readonly start: number; readonly row: number }
  | { readonly part: number };

/** An item of the slice, or why there is none. `name` identifies it in a failure. */
type Entry = { readonly name: JsonObject } & (
  | { readonly item: Message }
  | { readonly reason: string }
);

type Batch = {
  readonly entries: readonly Entry[];
  readonly next: ImportPosition | null;
  readonly total?: number;
};

const ROWS_PER_SLICE = 500;
const READ_BYTES = 128 * 1024;

export type ImportJobDeps = {
  readonly db: Database;
  /** Delays the slices whose items webhooks receive. Default: no delay. */
  readonly bulkPause?: BulkPause | undefined;
};

/** Imports items batch by batch: reads them, checks each, and sends the valid ones to their owner under the slice's key. */
export function importJob(
  { db, bulkPause }: ImportJobDeps,
  { type, kind, hasReport, result }: ImportJob,
): AnyJobDefinition {
  const check = createItemCheck(kind);
  return defineJob<ImportInput & JsonObject, ImportPosition>({
    type,
    result,
    slice: async (slice) => {
      const { input } = slice;
      const pauseMs = input.sendsWebhooks === true ? ((await bulkPause?.(slice.pausedMs)) ?? 0) : 0;
      if (pauseMs > 0) return { pauseMs };
      if (slice.position === null) await kind.begin?.(slice);
      const schemas = schemasFromJson((input.schemas ?? {}) as never);
      const batch = await (input.columns === undefined
        ? readBatch(db, kind, slice)
        : readRows(db, kind, slice, schemas));
      const faults = batch.entries.map((entry) =>
        "item" in entry
          ? (check(entry.item) ?? metadataFault(kind, entry.item, { input, schemas }))
          : entry.reason,
      );
      const valid = batch.entries.flatMap((entry, index) =>
        "item" in entry && faults[index] === undefined ? [entry.item] : [],
      );
      const outcomes = valid.length === 0 ? [] : await kind.send(valid, slice);
      if (batch.next === null) await kind.end?.(slice);
      const outcome = sliceOutcome(batch, faults, outcomes);
      if (!hasReport) return outcome;
      const report = reportOf(batch, faults, outcomes);
      return { ...outcome, report: slice.position === null ? REPORT_HEADER + report : report };
    },
    onFailed: async (slice) => kind.end?.(slice),
  });
}

/** Details name a property as the client sent it. */
function createItemCheck({
  schema,
  content,
}: Pick<ImportKind, "schema" | "content">): (item: Message) => string | undefined {
  const check = compileCheck(schema);
  if (content === undefined) return check;
  return (item) => check(item)?.replace(`Property .${content}.`, "Property .");
}

export type ImportJob = {
  readonly type: string;
  readonly kind: ImportKind;
  /** Whether it reports the outcome of each item. */
  readonly hasReport: boolean;
  readonly result: AnyJobDefinition["result"];
};

function metadataFault(
  kind: ImportKind,
  item: Message,
  { input, schemas }: { readonly input: ImportInput; readonly schemas: Schemas },
): string | undefined {
  const { resource, metadata, isComplete } = kind.metadataOf(item, input);
  const faults = metadataFaults(schemas, resource, { metadata, isComplete });
  return faults.length === 0 ? undefined : faults.slice(0, MAX_FAULTS).join(", ");
}

/** Faults that a failure names; a longer list would not be read. */
const MAX_FAULTS = 20;

function sliceOutcome(
  { entries, next, total }: Batch,
  faults: readonly (string | undefined)[],
  outcomes: readonly ItemOutcome[],
): SliceOutcome<ImportPosition> {
  const failures: JsonObject[] = [];
  let sent = 0;
  for (const [index, { name }] of entries.entries()) {
    const reason = faults[index] ?? reasonOf(outcomes[sent++]);
    if (reason !== undefined) failures.push({ ...name, reason });
  }
  return {
    processed: entries.length - failures.length,
    failures,
    next,
    ...(total !== undefined && { total }),
  };
}

const REPORT_HEADER = "id,found,updated\n";

/** A row for each item: whether it existed, which is empty when it was rejected, and whether it was created or changed. */
function reportOf(
  { entries }: Batch,
  faults: readonly (string | undefined)[],
  outcomes: readonly ItemOutcome[],
): string {
  let sent = 0;
  const rows = entries.map(({ name }, index) => {
    const outcome = faults[index] === undefined ? outcomes[sent++]?.outcome : undefined;
    const [id = null] = Object.values(name);
    const cells = [typeof id === "string" ? guardText(id) : null];
    if (outcome?.case !== "result") return [...cells, null, "false"];
    const isFound = outcome.value === ItemResult.UPDATED;
    return [...cells, String(isFound), String(outcome.value !== ItemResult.NOT_FOUND)];
  });
  return csvLines(rows).toString();
}

function reasonOf(outcome: ItemOutcome | undefined): string | undefined {
  if (outcome === undefined) throw new Error("the owner returned too few outcomes");
  if (outcome.outcome.case === "rejected") {
    const { message, details } = outcome.outcome.value;
    return details ?? message;
  }
  return outcome.outcome.value === ItemResult.NOT_FOUND ? "Resource not found" : undefined;
}

type ImportSlice = Slice<ImportInput & JsonObject, ImportPosition>;

async function readBatch(db: Database, kind: ImportKind, slice: ImportSlice): Promise<Batch> {
  const { project, input, position } = slice;
  const part = position !== null && "part" in position ? position.part : 0;
  const file = { projectId: project.id, fileId: input.fileId };
  const bytes = await readPart(db, file, part);
  if (bytes === undefined) throw new Error(`part ${part} of file ${input.fileId} is missing`);
  const { items, isLast } = fromBinary(ItemBatchSchema, bytes);
  return {
    entries: items.map((each) => {
      const item = withMetadata(fromBinary(kind.schema, each), input);
      return { name: kind.nameOf(item), item };
    }),
    next: isLast ? null : { part: part + 1 },
  };
}

const withMetadata = (item: Message, { metadata }: ImportInput): Message =>
  metadata === undefined ? item : ({ ...item, metadata } as Message);

async function readRows(
  db: Database,
  kind: ImportKind,
  slice: ImportSlice,
  schemas: Schemas,
): Promise<Batch> {
  const { csv } = kind;
  const { project, input, position } = slice;
  const { columns = [], start: firstRow = 0 } = input;
  if (csv === undefined) throw new Error("this kind has no CSV format");
  const { start, row } =
    position !== null && "row" in position ? position : { start: firstRow, row: 0 };
  const file = { projectId: project.id, fileId: input.fileId };
  const { records, isEnd } = await readCsv(
    (from) => readBytes(db, file, { start: from, length: READ_BYTES }),
    {
      start,
      limit: ROWS_PER_SLICE,
    },
  );
  const format = { columns, schemas, known: new Set(csv.columns) };
  const entries = records.map(({ cells }, index): Entry => {
    const unreadable = cells.findIndex((cell) => !isReadable(cell));
    const read = new CsvRow(format, unreadable === -1 ? cells : cells.map(withoutNul));
    const name = { ...csv.nameOfRow(read), row: row + index + 1 };
    if (cells.length > columns.length) {
      return {
        name,
        reason: `The row has ${cells.length} cells, the header has ${columns.length}`,
      };
    }
    if (unreadable !== -1) {
      return { name, reason: `${columns[unreadable]}: must be UTF-8 text without NUL characters` };
    }
    try {
      return { name, item: csv.toItem(read) };
    } catch (error) {
      if (error instanceof CellFault) return { name, reason: error.message };
      throw error;
    }
  });
  const done = row + records.length;
  return {
    entries,
    next: isEnd ? null : { start: records.at(-1)?.end ?? start, row: done },
    // Blank lines were counted as records.
    ...(isEnd && { total: done }),
  };
}

/** Columns that the header of a file lacks. */
export const missingColumns = ({ csv }: CsvKind, columns: readonly string[]): readonly string[] => {
  const names = new Set(columns.map(normalisedColumn));
  return (csv?.required ?? []).filter((column) => !names.has(column));
};
