import fc from "fast-check";
import { expect, test } from "vitest";

import { parseDecimal } from "./decimal.ts";

test("is exact for every possible percentage", () => {
  fc.assert(
    fc.property(fc.double({ min: 1e-15, max: 1e15, noNaN: true }), (number) => {
      expect(Number(parseDecimal(String(number)))).toBe(number);
    }),
  );
});

test("retains all digits of a string", () => {
  expect(parseDecimal("33.33333333333333333333")).toBe("33.33333333333333333333");
});

test.each([
  ["010.50", "10.5"],
  ["0", "0"],
  ["-0", "0"],
  ["-0.0", "0"],
  ["000", "0"],
  ["100.000", "100"],
  ["-1.50", "-1.5"],
  ["1e-7", "0.0000001"],
  ["1.5e-7", "0.00000015"],
  ["1.5E+3", "1500"],
  ["1.2345e2", "123.45"],
])("normalizes %s to %s", (text, decimal) => {
  expect(parseDecimal(text)).toBe(decimal);
});

test.each([
  "",
  ".5",
  "5.",
  "1,5",
  "+1",
  "--1",
  "0x10",
  "NaN",
  "Infinity",
  "1e400",
  "1e",
  " 1",
  "9".repeat(41),
])("rejects %j", (text) => {
  expect(parseDecimal(text)).toBeUndefined();
});
