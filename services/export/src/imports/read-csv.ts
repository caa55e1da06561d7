import { ApiError } from "@scrip/errors";
import { parse } from "csv-parse";

/** A record of a CSV file, and the position of the byte behind it. */
export type CsvRecord = { readonly cells: readonly string[]; readonly end: number };

/** A longer record is a quote that was never closed. */
const MAX_RECORD_BYTES = 1024 * 1024;

/** Named, because the parser would otherwise expect the first one of a batch in all its lines. */
const LINE_ENDS = ["\r\n", "\n", "\r"];

export type CsvRead = { readonly records: readonly CsvRecord[]; readonly isEnd: boolean };

/**
 * Reads up to `limit` records from a position of a file. Each call has a parser of its own, so that a job continues at any
 * record. Throws for a malformed record when it is the first one; otherwise the records before it are returned.
 */
export async function readCsv(
  read: (start: number) => Promise<Buffer | undefined>,
  { start, limit }: { readonly start: number; readonly limit: number },
): Promise<CsvRead> {
  const parser = parse({
    info: true,
    bom: start === 0,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    max_record_size: MAX_RECORD_BYTES,
    record_delimiter: LINE_ENDS,
  });
  let failure: Error | undefined;
  parser.on("error", (error) => (failure = error));
  const records: CsvRecord[] = [];
  let position = start;
  for (;;) {
    const chunk = await read(position);
    // Without a line end the parser would keep the last record back.
    parser.write(chunk ?? END_OF_FILE);
    for (;;) {
      const next = parser.read() as { info: { bytes: number }; record: string[] } | null;
      if (next === null || failure !== undefined) break;
      records.push({ cells: next.record, end: start + next.info.bytes });
      if (records.length === limit) return { records, isEnd: false };
    }
    const isOpen = chunk === undefined && !isBlank(await read(records.at(-1)?.end ?? start));
    if (failure !== undefined || isOpen) {
      if (records.length > 0) return { records, isEnd: false };
      throw malformed(failure?.message ?? "a quoted cell is not closed");
    }
    if (chunk === undefined) return { records, isEnd: true };
    position += chunk.length;
  }
}

/** Blank lines, which are skipped; the parser looks ahead by some bytes. */
const END_OF_FILE = Buffer.from("\n".repeat(64));

/** Only line ends follow the last record, unless it has an open quote; a byte order mark precedes the first. */
const isBlank = (rest: Buffer | undefined): boolean =>
  rest === undefined || /^(?:\u00EF\u00BB\u00BF)?[\r\n]*$/.test(rest.toString("latin1"));

const malformed = (why: string): ApiError =>
  new ApiError("invalid_payload", { details: `The file is not valid CSV: ${why}` });
