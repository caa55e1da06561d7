import fc from "fast-check";
import { expect, test } from "vitest";

import { parseDecimal } from "./decimal.ts";

test("parses a decimal exactly with any number of digits", () => {
  fc.assert(
    fc.property(
      fc.bigInt(-(10n ** 20n) + 1n, 10n ** 20n - 1n),
      fc.stringMatching(/^\d{0,18}$/),
      (whole, fraction) => {
        const parsed = parseDecimal(fraction === "" ? `${whole}` : `${whole}.${fraction}`);
        expect(parsed).toEqual({
          unscaled: BigInt(`${whole}${fraction}`),
          scale: fraction.length,
        });
      },
    ),
  );
});

test.each([
  ["12.5", { unscaled: 125n, scale: 1 }],
  ["0", { unscaled: 0n, scale: 0 }],
  ["-0.5", { unscaled: -5n, scale: 1 }],
  ["007.10", { unscaled: 710n, scale: 2 }],
  ["33.333333333333336", { unscaled: 33333333333333336n, scale: 15 }],
  [`0.${"0".repeat(37)}1`, { unscaled: 1n, scale: 38 }],
])("reads %s", (text, decimal) => {
  expect(parseDecimal(text)).toEqual(decimal);
});

test.each([
  "",
  " 1",
  "1 ",
  "1\n",
  "+1",
  "-",
  ".5",
  "5.",
  "1e3",
  "0x10",
  "1_000",
  "1,5",
  "NaN",
  "Infinity",
  "1.2.3",
  "١",
  `0.${"0".repeat(38)}1`,
  "123456789012345678901",
])("returns undefined for %j", (text) => {
  expect(parseDecimal(text)).toBeUndefined();
});
