import { repetitions } from "@scrip/testing/repetitions";
import fc from "fast-check";
import { expect, test } from "vitest";

import { DecodeError } from "./decode-error.ts";
import { parseQuery } from "./query.ts";

test.each([
  ["limit=10&page=2", { limit: "10", page: "2" }],
  ["", {}],
  ["a&b=&=1".slice(0, 4), { a: "", b: "" }],
  ["q=a%20b+c%2Bd", { q: "a b c+d" }],
  ["q=1=2", { q: "1=2" }],
  ["expand=a&expand=b", { expand: ["a", "b"] }],
  ["created_at[after]=x&created_at[before]=y", { created_at: { after: "x", before: "y" } }],
  ["[created_at][before]=y", { created_at: { before: "y" } }],
  ["created_at%5Bafter%5D=x", { created_at: { after: "x" } }],
  [
    "filters[code][conditions][$in][1]=b&filters[code][conditions][$in][0]=a&filters[junction]=OR",
    { filters: { code: { conditions: { $in: ["a", "b"] } }, junction: "OR" } },
  ],
  ["[filters][code][conditions][$is]=a", { filters: { code: { conditions: { $is: "a" } } } }],
  ["a[]=1&a[]=2", { a: ["1", "2"] }],
  ["a[10]=x&a[9]=y", { a: ["y", "x"] }],
])("reads %s", (query, expected) => {
  expect(parseQuery(query)).toStrictEqual(expected);
});

test.each([
  ["a=%", "must be percent-encoded UTF-8"],
  ["a=%zz", "must be percent-encoded UTF-8"],
  ["a=%ff", "must be percent-encoded UTF-8"],
  ["a=%ed%a0%80", "must be percent-encoded UTF-8"],
  ["%c0%80=1", "must be percent-encoded UTF-8"],
  ["a=\u00e9", "must be percent-encoded"],
  ["a=%00", "must not contain NUL or lone surrogates"],
  ["=1", "must not have a parameter without a name"],
  ["a[b=1", "must not have the malformed name 'a[b'"],
  ["a]b[=1", "must not have the malformed name 'a]b['"],
  ["a[b]c=1", "must not have the malformed name 'a[b]c'"],
  ["__proto__[x]=1", "must not have the property '__proto__'"],
  ["a[__proto__][x]=1", "must not have the property '__proto__'"],
  ["a[constructor][prototype]=1", "must not have the property 'constructor'"],
  ["a=1&a[b]=2", "must not have both a value and properties at 'a.b'"],
  ["a[b]=2&a=1", "must not have both a value and properties at 'a'"],
  [`a${"[x]".repeat(8)}=1`, "must not be nested deeper than 8 levels"],
  ["a=1&".repeat(501), "must NOT have more than 500 parameters"],
  [`a=${"x".repeat(16_384)}`, "must NOT have more than 16384 characters"],
])("rejects %s", (query, text) => {
  expect(() => parseQuery(query)).toThrow(text);
});

test("rejects repeated parameters of a form", () => {
  expect(() => parseQuery("scope=a&scope=b", { unique: true })).toThrow("must not repeat 'scope'");
});

test("returns or rejects any input", () => {
  const pieces = fc.constantFrom(
    "a",
    "[",
    "]",
    "[0]",
    "[x]",
    "=",
    "&",
    "%",
    "%20",
    "%00",
    "%zz",
    "__proto__",
    "+",
    "é",
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 20 }), (parts) => {
      try {
        parseQuery(parts.join(""));
      } catch (error) {
        expect(error).toBeInstanceOf(DecodeError);
      }
      expect(({} as Record<string, unknown>)["x"]).toBeUndefined();
    }),
    { numRuns: repetitions({ usual: 5_000, full: 20_000 }) },
  );
});
