import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { pipeline } from "node:stream";

import { CsvError, parse } from "csv-parse";

import { usageError } from "../cli-error.ts";
import { unreadable } from "../files.ts";
import type { Progress } from "../progress.ts";

/** A row of a CSV file: cells by normalised column, and metadata by key. */
export type TableRow = {
  /** Counted from 1 behind the header, as the API counts. */
  readonly number: number;
  readonly cells: ReadonlyMap<string, string>;
  readonly metadata: Readonly<Record<string, string>>;
};

const METADATA = /^metadata[ ._](.+)$/i;

/** `Redemption Count`, `redemption_count` and `Is referral code?` become words with underscores. */
const columnOf = (header: string): string =>
  header
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "_")
    .replaceAll(/^_|_$/g, "");

/** Bytes between two updates of the progress. */
const PROGRESS_STEP = 1024 * 1024;

/** Reads a file row by row, in memory that does not depend on its size. */
export async function* readTable(file: string, progress?: Progress): AsyncGenerator<TableRow> {
  const { size } = await stat(file).catch((error: Error) => {
    throw unreadable(file, error);
  });
  // Closes the file also when the caller stops early; errors reach the loop below.
  const parser = pipeline(
    createReadStream(file),
    parse({ bom: true, info: true, relax_column_count: true, skip_empty_lines: true }),
    () => {},
  );
  let headers: readonly string[] | undefined;
  let number = 0;
  let shown = 0;
  try {
    for await (const { record, info } of parser as AsyncIterable<Parsed>) {
      if (headers === undefined) {
        headers = record;
        continue;
      }
      number += 1;
      // The decoder writes U+FFFD for bytes that are not UTF-8; an import would store it in names and codes.
      if (record.some((cell) => cell.includes("\uFFFD")))
        throw new Error(`row ${number} is not UTF-8`);
      yield { number, ...cellsOf(headers, record) };
      if (info.bytes - shown > PROGRESS_STEP) {
        shown = info.bytes;
        progress?.update(shown, size);
      }
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw unreadable(file, error as Error);
    throw usageError(`${file} is not valid CSV: ${error.message}`);
  }
  progress?.update(size, size);
}

type Parsed = { readonly record: readonly string[]; readonly info: { readonly bytes: number } };

function cellsOf(
  headers: readonly string[],
  record: readonly string[],
): Pick<TableRow, "cells" | "metadata"> {
  const cells = new Map<string, string>();
  const metadata: Record<string, string> = {};
  for (const [index, header] of headers.entries()) {
    const text = record[index]?.trim() ?? "";
    const [, key] = METADATA.exec(header.trim()) ?? [];
    if (key === undefined) cells.set(columnOf(header), text);
    else if (text !== "") metadata[key] = text;
  }
  return { cells, metadata };
}
