import { repetitions } from "@scrip/testing/repetitions";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { DecodeError } from "./decode-error.ts";
import { readJson } from "./json-reader.ts";

const read = (text: string): unknown => readJson(Buffer.from(text));
const detailsOf = (body: string | Buffer): string => {
  try {
    readJson(Buffer.from(body as string));
  } catch (error) {
    if (error instanceof DecodeError) return error.details;
    throw error;
  }
  return "accepted";
};

test("reads clean documents as JSON.parse does", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6, stringUnit: "binary" }), (text) => {
      fc.pre(!/\\u0000|__proto__|constructor/.test(text));
      expect(read(text)).toStrictEqual(JSON.parse(text));
    }),
    { numRuns: 2000 },
  );
});

test("rejects everything that JSON.parse rejects", () => {
  const pieces = fc.constantFrom(
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    '"',
    "\\",
    "\\u0041",
    "\\u0000",
    "\\ud800",
    "a",
    "1",
    "-",
    "0",
    ".",
    "e9",
    "true",
    "null",
    " ",
    "\n",
    "ü",
    "😀",
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 30 }), (parts) => {
      const text = parts.join("");
      if (detailsOf(text) === "accepted") expect(read(text)).toStrictEqual(JSON.parse(text));
    }),
    { numRuns: repetitions({ usual: 5_000, full: 20_000 }) },
  );
});

describe("rejects", () => {
  test.each([
    ["bytes that are not UTF-8", Buffer.from([0x22, 0xff, 0x22]), "must be valid UTF-8"],
    ["a surrogate in UTF-8", Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), "must be valid UTF-8"],
    ["an overlong NUL", Buffer.from([0x22, 0xc0, 0x80, 0x22]), "must be valid UTF-8"],
    ["an escaped NUL", String.raw`{"a":"x\u0000"}`, "must not contain NUL or lone surrogates"],
    [
      "an escaped NUL in a key",
      String.raw`{"x\u0000":1}`,
      "must not contain NUL or lone surrogates",
    ],
    ["half a pair", String.raw`["\ud83d"]`, "must not contain NUL or lone surrogates"],
    ["a reversed pair", String.raw`["\ude00\ud83d"]`, "must not contain NUL or lone surrogates"],
    ["a repeated key", `{"a":1,"a":2}`, "must not repeat a property"],
    ["a repeated key, once escaped", String.raw`{"a":1,"\u0061":2}`, "must not repeat a property"],
    ["a repeated key deep inside", `[{"x":{"a":1,"b":2,"a":3}}]`, "must not repeat a property"],
    ["__proto__", `{"a":{"__proto__":{"x":1}}}`, "must not have the property '__proto__'"],
    [
      "an escaped __proto__",
      String.raw`{"__pr\u006fto__":1}`,
      "must not have the property '__proto__'",
    ],
    [
      "constructor.prototype",
      `{"constructor":{"prototype":{}}}`,
      "must not have the property 'constructor'",
    ],
    ["an endless number", `{"a":1e400}`, "must not have numbers out of range"],
    ["a negative endless number", `[-1e999]`, "must not have numbers out of range"],
    ["33 levels", "[".repeat(33) + "]".repeat(33), "must not be nested deeper than 32 levels"],
    ["half a million levels", "[".repeat(500_000), "must not be nested deeper than 32 levels"],
    ["10,001 values", `[${"1,".repeat(10_000)}1]`, "must NOT have more than 10000 values"],
    [
      "100,000 keys",
      JSON.stringify(Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [i, i]))),
      "must NOT have more than 10000 values",
    ],
  ])("%s", (_, body, text) => {
    expect(detailsOf(body as string)).toBe(`Payload ${text}`);
  });

  test.each([
    "",
    "{",
    '{"a":1,}',
    "{'a':1}",
    "NaN",
    "Infinity",
    "01",
    "\uFEFF{}",
    '"a\nb"',
    "{}{}",
    "tru",
    '{"a":"',
  ])("%j as JSON", (text) => {
    expect(detailsOf(text)).toMatch(/^Payload must be valid JSON: /);
  });
});

describe("accepts", () => {
  test.each([
    ["32 levels", "[".repeat(32) + "]".repeat(32)],
    ["a whole pair", String.raw`["\ud83d\ude00"]`],
    ["a constructor without prototype", `{"constructor":{"a":1}}`],
    ["quotes, colons and brackets inside texts", String.raw`{"a\":{":"[\\\"{:,"}`],
    ["the same key in neighbours", `[{"a":1},{"a":2}]`],
    ["minus zero", "-0"],
  ])("%s", (_, text) => {
    expect(read(text)).toEqual(JSON.parse(text));
  });

  test("more values with higher limits", () => {
    const body = Buffer.from(`[${"1,".repeat(20_000)}1]`);
    expect(readJson(body, { depth: 32, nodes: 100_000 })).toHaveLength(20_001);
  });
});

test.each([
  ["backslashes", `"${"\\\\".repeat(500_000)}"`],
  ["escapes", `"${String.raw`\u0041`.repeat(150_000)}"`],
  ["open braces", "{".repeat(1_000_000)],
  ["open quotes", '"'.repeat(1_000_000)],
  ["commas", ",".repeat(1_000_000)],
  ["colons", ":".repeat(1_000_000)],
  ["digits", "1".repeat(1_000_000)],
])("reads a megabyte of %s in linear time", (_, text) => {
  const body = Buffer.from(text);
  const start = performance.now();
  try {
    readJson(body);
  } catch (error) {
    expect(error).toBeInstanceOf(DecodeError);
  }
  // Quadratic work would take minutes, far more than a busy machine adds.
  expect(performance.now() - start).toBeLessThan(60_000);
});

test("does not change Object.prototype", () => {
  for (const text of [`{"__proto__":{"x":1}}`, `{"constructor":{"prototype":{"x":1}}}`])
    detailsOf(text);
  expect(({} as Record<string, unknown>)["x"]).toBeUndefined();
});
