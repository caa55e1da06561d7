import { once } from "node:events";
import { createReadStream, createWriteStream } from "node:fs";
import { createInterface } from "node:readline";
import { finished } from "node:stream/promises";

import type { LedgerRecord } from "@scrip/loyalty/ledger";

import { CliError, usageError } from "./cli-error.ts";
import { unreadable } from "./files.ts";
import { isJsonObject } from "./http.ts";

/** The first and last lines of an exported ledger; records are the lines between them, one JSON object each. */
const HEAD: Head = { record: "ledger", format: 1 };
type End = { readonly record: "end"; readonly cards: number; readonly entries: number };

/** Writes records as they arrive and returns their numbers. */
export async function writeLedger(
  file: string,
  records: AsyncIterable<LedgerRecord>,
): Promise<End> {
  const stream = createWriteStream(file);
  const written = finished(stream);
  // Awaited below; a failure before then must not end the process.
  written.catch(() => {});
  let [cards, entries] = [0, 0];
  const write = async (line: object): Promise<void> => {
    if (!stream.write(`${JSON.stringify(line)}\n`))
      await Promise.race([once(stream, "drain"), written]);
  };
  await write(HEAD);
  for await (const record of records) {
    if (record.record === "card") cards += 1;
    else entries += 1;
    await write(record);
  }
  const end: End = { record: "end", cards, entries };
  await write(end);
  stream.end();
  await written;
  return end;
}

/**
 * Reads the records of an exported ledger line by line. A file that is not a ledger is invalid
 * usage; a ledger that is damaged or not complete fails its verification.
 */
export async function* readLedgerFile(file: string): AsyncGenerator<LedgerRecord> {
  let number = 0;
  let [cards, entries] = [0, 0];
  let end: End | null = null;
  for await (const line of readLines(file)) {
    number += 1;
    const record = parse(line);
    if (number === 1) {
      if (record.record !== "ledger" || record.format !== HEAD.format) throw notLedger(file);
      continue;
    }
    if (end !== null) throw new CliError(`${file}:${number} follows the end of the ledger`);
    if (record.record === "end") {
      end = record;
      continue;
    }
    if (record.record === undefined || !isReadable(record))
      throw new CliError(`${file}:${number} is not a record of a ledger`);
    if (record.record === "card") cards += 1;
    else entries += 1;
    yield record;
  }
  if (number === 0) throw notLedger(file);
  if (end === null) throw new CliError(`${file} is not complete: its last line is missing`);
  if (end.cards !== cards || end.entries !== entries) {
    throw new CliError(
      `${file} is not complete: it has ${cards} cards and ${entries} entries of ${end.cards} and ${end.entries}`,
    );
  }
}

const notLedger = (file: string): CliError =>
  usageError(`${file} is not a ledger of format ${HEAD.format}`);

async function* readLines(file: string): AsyncGenerator<string> {
  try {
    yield* createInterface({ input: createReadStream(file), crlfDelay: Infinity });
  } catch (error) {
    throw unreadable(file, error as Error);
  }
}

const isInteger = (value: unknown): boolean => /^-?\d{1,20}$/.test(String(value));

const isIntegers = (value: unknown): boolean =>
  isJsonObject(value) && Object.values(value).every(isInteger);

/** Whether the record has the numbers and times that the verification computes with. */
function isReadable(record: Exclude<Line, NoRecord>): record is LedgerRecord {
  if (record.record === "card") return isInteger(record.points) && isIntegers(record.lots);
  if (record.record !== "entry") return false;
  const { version, points, balance_after: balance, total_after: total } = record;
  return (
    [version, points, balance].every(isInteger) &&
    (total === null || isInteger(total)) &&
    isIntegers(record.lots ?? {}) &&
    record.details !== undefined &&
    !Number.isNaN(Date.parse(record.created_at))
  );
}

type Head = { readonly record: "ledger"; readonly format: number };
type Line = Head | LedgerRecord | End | NoRecord;
type NoRecord = { readonly record?: never };

function parse(line: string): Line {
  try {
    const content: unknown = JSON.parse(line);
    return isJsonObject(content) ? content : {};
  } catch {
    return {};
  }
}
