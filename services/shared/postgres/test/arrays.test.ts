import path from "node:path";

import { emptyDatabase } from "@scrip/testing";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";

import {
  type ArrayValue,
  boolArray,
  byteaArray,
  createDatabase,
  int4Array,
  int8Array,
  migrate,
  textArray,
  timestampArray,
} from "../src/index.ts";

const SERVICE = {
  schema: "till",
  role: "scrip_till",
  folder: path.join(import.meta.dirname, "fixture/till"),
};

const server = await emptyDatabase();
await migrate({ url: server.url, ...SERVICE });
const db = createDatabase({ url: server.url, ...SERVICE, poolSize: 1, onError: () => {} });
afterAll(async () => {
  await db.close();
  await server[Symbol.asyncDispose]();
});

const roundTrip = async (type: string, array: ArrayValue): Promise<unknown[]> => {
  const { rows } = await db.query<{ value: unknown }>(
    `select value from unnest($1::${type}[]) with ordinality as one (value, position) order by position`,
    [array],
  );
  return rows.map(({ value }) => value);
};

const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.array(fc.option(value), { maxLength: 20 });
/** Postgres does not store NUL in text. */
const text = fc.string({ unit: "grapheme" }).filter((one) => !one.includes("\u0000"));
const MAX = 2n ** 63n - 1n;

test.each([
  ["text", maybe(text), (values: (string | null)[]) => textArray(values)],
  ["int8", maybe(fc.bigInt(-MAX - 1n, MAX)), (values: (bigint | null)[]) => int8Array(values)],
  [
    "bytea",
    maybe(fc.uint8Array().map((bytes) => Buffer.from(bytes))),
    (values: (Buffer | null)[]) => byteaArray(values),
  ],
  ["int4", fc.array(fc.integer()), (values: number[]) => int4Array(values)],
  ["bool", fc.array(fc.boolean()), (values: boolean[]) => boolArray(values)],
] as [string, fc.Arbitrary<unknown[]>, (values: never) => ArrayValue][])(
  "reads arrays of %s back unchanged",
  async (type, values, encode) => {
    await fc.assert(
      fc.asyncProperty(values, async (sent) => {
        expect(await roundTrip(type, encode(sent as never))).toEqual(sent);
      }),
      { numRuns: 30 },
    );
  },
);

test("reads instants back to the millisecond, also before 2000", async () => {
  const sent = [0, 951_782_400_123, 1_795_262_400_999, -86_400_001, null];
  expect(await roundTrip("timestamptz", timestampArray(sent))).toEqual(
    sent.map((one) => (one === null ? null : new Date(one))),
  );
});

test("reads texts of all lengths back unchanged, beside short ones and those beyond ASCII", async () => {
  for (const length of [63, 64, 65, 30_000, 700_000]) {
    const texts = ["a", null, "x".repeat(length), "é", "漢🎉".repeat(length / 4), "", "z"];
    expect(await roundTrip("text", textArray(texts))).toEqual(texts);
  }
});
