import { type JsonObject, type Message, toBinary } from "@bufbuild/protobuf";
import { ApiError, invalidPayload } from "@scrip/errors";
import { ItemBatchSchema, type ImportStarted } from "@scrip/proto/scrip/export/v1/imports_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { newLinkToken } from "../files/download.ts";
import { startAction } from "../store/async-actions.ts";
import { appendPart, claimFile, lockFile, readBytes } from "../store/import-files.ts";
import { isReadable, normalisedColumn } from "./csv-row.ts";
import { missingColumns } from "./import-job.ts";
import { hasReport, type ImportType } from "./import-jobs.ts";
import type { CsvKind, ImportInput, ImportKind } from "./import-kind.ts";
import { readCsv } from "./read-csv.ts";

type Start = {
  /** Default: a new id. */
  readonly id?: string;
  readonly type: ImportType;
  readonly schemas?: JsonObject | undefined;
  readonly campaignId?: string;
  readonly sendsWebhooks?: boolean | undefined;
};

/** Stores the items in batches and starts their import, in one transaction. */
export async function startItems<Item extends Message>(
  deps: Deps,
  call: Call,
  start: Start & {
    readonly kind: ImportKind<Item>;
    readonly items: readonly Item[];
    readonly perBatch?: number;
    /** Merged into the metadata of every item. */
    readonly metadata?: JsonObject | undefined;
  },
): Promise<ImportStarted> {
  const { type, kind, items, perBatch = ITEMS_PER_BATCH, metadata, id = deps.newId("aa") } = start;
  const file = { projectId: call.project.id, fileId: id };
  const batches = Math.ceil(items.length / perBatch);
  await deps.db.transaction(async (tx) => {
    for (let number = 0; number < batches; number += 1) {
      const state = await lockFile(tx, file);
      const data = toBinary(ItemBatchSchema, {
        $typeName: "scrip.export.v1.ItemBatch",
        items: items
          .slice(number * perBatch, (number + 1) * perBatch)
          .map((item) => toBinary(kind.schema, item)),
        isLast: number === batches - 1,
      });
      await appendPart(tx, file, { ...state, file: state, data });
    }
    await claimFile(tx, file, id);
    const input = inputOf(start, {
      fileId: id,
      ...(metadata !== undefined && { metadata }),
    });
    const reportToken = hasReport(type) ? newLinkToken() : undefined;
    await startAction(tx, call, { id, type, input, total: items.length, reportToken });
  });
  return started(id);
}

/** Items of a slice: the most that owners accept is more. */
const ITEMS_PER_BATCH = 500;

const HEADER_BYTES = 64 * 1024;
const MAX_COLUMNS = 200;

/** Checks the header of an uploaded file and starts its import. */
export async function startFile(
  deps: Deps,
  call: Call,
  start: Start & { readonly kind: CsvKind; readonly fileId: string },
): Promise<ImportStarted> {
  const { type, kind, fileId, id = deps.newId("aa") } = start;
  if (fileId === "") throw invalidPayload("Payload should have required property 'file'");
  const file = { projectId: call.project.id, fileId };
  const read = (from: number) => readBytes(deps.db, file, { start: from, length: HEADER_BYTES });
  // The parser would decode the header, but not what follows it.
  if (isUtf16(await read(0))) throw invalidPayload(NOT_UTF8);
  const {
    records: [header],
  } = await readCsv(read, { start: 0, limit: 1 });
  if (header === undefined) throw invalidPayload("The file must have a header");
  requireColumns(kind, header.cells);
  await deps.db.transaction(async (tx) => {
    const claimed = await claimFile(tx, file, id);
    if (claimed === undefined)
      throw new ApiError("invalid_payload", { details: "The file is in use" });
    const input = inputOf(start, { fileId, columns: header.cells, start: header.end });
    const total = Math.max(0, Number(claimed.records) - 1);
    await startAction(tx, call, { id, type, input, total });
  });
  return started(id);
}

const NOT_UTF8 = "The file must be UTF-8 text";

/** Files in UTF-16 begin with a byte order mark. */
const isUtf16 = (start: Buffer | undefined): boolean =>
  ["fffe", "feff"].includes(start?.toString("hex", 0, 2) ?? "");

function requireColumns(kind: CsvKind, columns: readonly string[]): void {
  if (columns.length > MAX_COLUMNS) {
    throw invalidPayload(`The file must NOT have more than ${MAX_COLUMNS} columns`);
  }
  if (!columns.every(isReadable)) throw invalidPayload(NOT_UTF8);
  const [missing] = missingColumns(kind, columns);
  if (missing !== undefined) throw invalidPayload(`The file should have the column '${missing}'`);
  const names = columns.map(normalisedColumn).filter((name) => name !== "");
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) throw invalidPayload(`The file has the column '${repeated}' twice`);
}

const inputOf = (
  { schemas, campaignId, sendsWebhooks }: Start,
  rest: ImportInput,
): ImportInput & JsonObject =>
  ({
    ...rest,
    ...(schemas !== undefined && Object.keys(schemas).length > 0 && { schemas }),
    ...(campaignId !== undefined && { campaignId }),
    ...(sendsWebhooks === true && { sendsWebhooks }),
  }) as never;

const started = (asyncActionId: string): ImportStarted => ({
  $typeName: "scrip.export.v1.ImportStarted",
  asyncActionId,
});
