import fc from "fast-check";
import { expect, test } from "vitest";

import { parseDecimal } from "./decimal.ts";
import { percentIn, percentOf } from "./percent.ts";

const percent = (text: string) => {
  const decimal = parseDecimal(text);
  if (decimal === undefined) throw new Error(`${text} is no decimal`);
  return decimal;
};

test.each([
  [11_499n, "10", 1_150n],
  [1_004n, "12.5", 126n],
  [1_003n, "12.5", 125n],
  [5n, "10", 1n],
  [4n, "10", 0n],
  [999n, "33.333333333333", 333n],
  [-11_499n, "10", -1_150n],
  [0n, "100", 0n],
])("computes %d at %s %% as %d", (amount, text, expected) => {
  expect(percentOf(amount, percent(text))).toBe(expected);
});

test("returns at most the amount below a hundred per cent, and all of it at a hundred", () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 10n ** 13n), fc.bigInt(0n, 10n ** 6n), (amount, unscaled) => {
      const part = percentOf(amount, { unscaled, scale: 4 });
      expect(part).toBeGreaterThanOrEqual(0n);
      expect(part).toBeLessThanOrEqual(amount);
      expect(percentOf(amount, percent("100"))).toBe(amount);
    }),
  );
});

test("ignores trailing zeros of a percentage", () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 10n ** 13n), fc.bigInt(0n, 10n ** 5n), (amount, unscaled) => {
      expect(percentOf(amount, { unscaled: unscaled * 1000n, scale: 6 })).toBe(
        percentOf(amount, { unscaled, scale: 3 }),
      );
    }),
  );
});

test.each([
  ["-0.1", "0"],
  ["0", "0"],
  ["33.3", "33.3"],
  ["100", "100"],
  ["100.0001", "100"],
])("converts %s to the percentage %s", (text, expected) => {
  expect(percentIn(percent(text))).toEqual(percent(expected));
});
