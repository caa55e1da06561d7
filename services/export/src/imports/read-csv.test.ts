import fc from "fast-check";
import { expect, test } from "vitest";

import { readCsv } from "./read-csv.ts";

/** Reads a text in chunks of some bytes. */
const readerOf = (text: string, chunk = 7) => {
  const bytes = Buffer.from(text);
  return (start: number): Promise<Buffer | undefined> =>
    Promise.resolve(start < bytes.length ? bytes.subarray(start, start + chunk) : undefined);
};

/** All records, read some at a time from where the previous ones ended, as a job does. */
async function readAll(text: string, { limit = 1, chunk = 7 } = {}): Promise<readonly string[][]> {
  const all: string[][] = [];
  for (let start = 0; ;) {
    const { records, isEnd } = await readCsv(readerOf(text, chunk), { start, limit });
    all.push(...records.map(({ cells }) => [...cells]));
    if (isEnd) return all;
    start = records.at(-1)?.end ?? start;
  }
}

test("continues at any record, whatever the quotes, line ends and blank lines", async () => {
  const text = '\uFEFFCode,Note\r\nA,"x, ""y"",\r\nz"\r\n\r\n"B\n2",é\r\nC,';
  for (const limit of [1, 2, 3, 10]) {
    expect(await readAll(text, { limit })).toEqual([
      ["Code", "Note"],
      ["A", 'x, "y",\r\nz'],
      ["B\n2", "é"],
      ["C", ""],
    ]);
  }
});

test("reads CSV as RFC 4180 defines it, in batches of any size", async () => {
  const cell = fc.stringMatching(/^[a-z",\n é]{0,8}$/).map((text) => `c${text}`);
  const records = fc.array(fc.array(cell, { minLength: 2, maxLength: 2 }), {
    minLength: 1,
    maxLength: 9,
  });
  const sizes = fc.record({
    limit: fc.integer({ min: 1, max: 4 }),
    chunk: fc.integer({ min: 1, max: 40 }),
  });
  await fc.assert(
    fc.asyncProperty(records, sizes, fc.constantFrom("\n", "\r\n"), async (rows, size, end) => {
      const text = rows
        .map((cells) => cells.map((each) => `"${each.replaceAll('"', '""')}"`).join(","))
        .join(end);
      expect(await readAll(text, size)).toEqual(rows);
    }),
    { numRuns: 100 },
  );
});

test("reads lines whose ends differ, as in files that were joined", async () => {
  const line = fc.record({
    cell: fc.stringMatching(/^[a-z é]{1,8}$/),
    isQuoted: fc.boolean(),
    end: fc.constantFrom("\n", "\r\n", "\r"),
  });
  const sizes = fc.record({
    limit: fc.integer({ min: 1, max: 4 }),
    chunk: fc.integer({ min: 1, max: 40 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 9 }), sizes, async (lines, size) => {
      const text = lines.map(
        ({ cell, isQuoted, end }) => (isQuoted ? `"${cell}\r\n"` : cell) + end,
      );
      expect(await readAll(text.join(""), size)).toEqual(
        lines.map(({ cell, isQuoted }) => [isQuoted ? `${cell}\r\n` : cell]),
      );
    }),
    { numRuns: 100 },
  );
});

test("returns the records before a quote that is never closed, and rejects the one that opens it", async () => {
  const read = readerOf('a,b\nc,d\n"e,f\ng,h\n');
  const first = await readCsv(read, { start: 0, limit: 10 });
  expect([first.records.length, first.isEnd]).toEqual([2, false]);
  await expect(readCsv(read, { start: 8, limit: 10 })).rejects.toMatchObject({
    key: "invalid_payload",
  });
});

test("reads a file with only a byte order mark or blank lines as an empty one", async () => {
  for (const text of ["", "\uFEFF", "\uFEFF\r\n", "\n\n"]) {
    expect(await readCsv(readerOf(text), { start: 0, limit: 1 })).toEqual({
      records: [],
      isEnd: true,
    });
  }
});
