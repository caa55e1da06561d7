import { ApiError } from "@scrip/errors";
import { repetitions } from "@scrip/testing/repetitions";
import fc from "fast-check";
import { expect, test } from "vitest";

import { bindingAt } from "../../test/transcode/public-contract.ts";
import { createTranscoder } from "./transcoder.ts";

const { decode } = createTranscoder().bind(bindingAt("POST", "/v1/vouchers/{code}/redemption"));

const valid = Buffer.from(
  JSON.stringify({
    customer: { source_id: "shöp-1", metadata: { a: [1, { b: null }] } },
    order: {
      amount: 20_000,
      status: "PAID",
      items: [
        { product_id: "p", quantity: 1, price: 100 },
        { sku_id: "s", quantity: "2", product: { name: "\u{1F600}", metadata: {} } },
      ],
    },
    gift: { credits: 5 },
    session: { type: "LOCK", ttl: 7, ttl_unit: "DAYS" },
    metadata: { locale: "en", deep: { deep: { deep: [[[1]]] } } },
  }),
);

/** Byte sequences with a meaning to parsers, whole or truncated. */
const PIECES = [
  "{",
  "}",
  "[",
  "]",
  '"',
  ":",
  ",",
  "\\",
  "\\u0000",
  "\\ud800",
  "\\udc00",
  "null",
  "NaN",
  "1e400",
  "-0",
  "-",
  "0x1",
  "1e-400",
  "9007199254740993",
  '"__proto__":',
  '"constructor":{"prototype":1},',
  '"toString":1,',
  '"hasOwnProperty":1,',
  "\uFEFF",
  "\0",
  "\u2028",
  '{"a":'.repeat(40),
  "[".repeat(5000),
].map((piece) => Buffer.from(piece));

const RAW = [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0x80]].map(
  (bytes) => Buffer.from(bytes),
);

const edit = fc.record({
  at: fc.nat({ max: valid.length }),
  removed: fc.nat({ max: 12 }),
  added: fc.constantFrom(Buffer.alloc(0), ...PIECES, ...RAW),
});

/** Every outcome except a message or an ApiError is a bug. */
function attempt(body: Buffer, query: string, path: string): void {
  try {
    expect(decode({ path: [path], query, body })).toHaveProperty("$typeName");
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    expect(error.options.details?.isWellFormed()).toBe(true);
    expect(error.options.details).not.toContain("\0");
  }
  expect(({} as Record<string, unknown>)["prototype"]).toBeUndefined();
  expect(({} as Record<string, unknown>)["a"]).toBeUndefined();
}

test("mutated documents are either decoded or rejected", () => {
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 4 }), (edits) => {
      let body: Buffer = valid;
      for (const { at, removed, added } of edits) {
        body = Buffer.concat([body.subarray(0, at), added, body.subarray(at + removed)]);
      }
      attempt(body, "", "ABC");
    }),
    { numRuns: repetitions({ usual: 5_000, full: 20_000 }) },
  );
});

test("any JSON in any property is either decoded or rejected", () => {
  const names = [
    "code",
    "customer",
    "order",
    "session",
    "metadata",
    "gift",
    "reward",
    "options",
    "tracking_id",
    "update_mask",
  ];
  const values = fc.oneof(
    fc.jsonValue({ maxDepth: 4, stringUnit: "binary" }),
    fc.constantFrom(
      "cust_",
      "constructor",
      "__proto__",
      1e308,
      -1,
      [[]],
      { items: [{}] },
      { type: [] },
    ),
  );
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...names), values), (body) => {
      attempt(Buffer.from(JSON.stringify(body)), "", "ABC");
    }),
    { numRuns: 5_000 },
  );
});

test("any path and query are either decoded or rejected", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (path, query) => {
      attempt(valid, query, path);
      attempt(
        valid,
        encodeURIComponent(query.toWellFormed()),
        encodeURIComponent(path.toWellFormed()),
      );
    }),
    { numRuns: 5_000 },
  );
});

test.each([
  ["an array of a million", Buffer.from(`{"metadata":{"a":[${"1,".repeat(1_000_000)}1]}}`)],
  [
    "a hundred thousand keys",
    Buffer.from(
      JSON.stringify(
        Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`k${index}`, 1])),
      ),
    ),
  ],
  ["a long text", Buffer.from(JSON.stringify({ tracking_id: "x".repeat(1_000_000) }))],
  ["a long number", Buffer.from(`{"order":{"amount":${"9".repeat(100_000)}}}`)],
  ["a long number as text", Buffer.from(`{"order":{"amount":"${"9".repeat(100_000)}"}}`)],
])("rejects %s quickly", (_, body) => {
  attempt(body, "", "ABC");
  expect(() => decode({ path: ["A"], query: "", body })).toThrow(ApiError);
});
