import fc from "fast-check";
import { describe, expect, test } from "vitest";

import {
  addDecimals,
  compareDecimals,
  decimalOfNumber,
  decimalText,
  divideDecimals,
  fromMinorUnits,
  multiplyDecimals,
  negateDecimal,
  powerOf,
  remainderOf,
  roundDecimal,
  toMinorUnits,
  wholeOf,
} from "./arithmetic.ts";
import { type Decimal, parseDecimal } from "./decimal.ts";

const decimal = (text: string): Decimal => {
  const parsed = parseDecimal(text);
  if (parsed === undefined) throw new Error(`${text} is no decimal`);
  return parsed;
};

const shown = (value: Decimal | undefined): string | undefined => value && decimalText(value);

const anyDecimal = fc.record({
  unscaled: fc.bigInt(-(10n ** 18n), 10n ** 18n),
  scale: fc.integer({ min: 0, max: 8 }),
});
const nonZero = anyDecimal.filter(({ unscaled }) => unscaled !== 0n);

describe("decimals", () => {
  test("add and subtract exactly", () => {
    fc.assert(
      fc.property(anyDecimal, anyDecimal, (a, b) => {
        const sum = addDecimals(a, b)!;
        expect(sum.unscaled * 10n ** BigInt(a.scale + b.scale)).toBe(
          (a.unscaled * 10n ** BigInt(b.scale) + b.unscaled * 10n ** BigInt(a.scale)) *
            10n ** BigInt(sum.scale),
        );
        expect(compareDecimals(addDecimals(sum, negateDecimal(b))!, a)).toBe(0);
      }),
    );
  });

  test("multiply exactly, and divide back", () => {
    fc.assert(
      fc.property(anyDecimal, nonZero, (a, b) => {
        const product = multiplyDecimals(a, b)!;
        expect(product.unscaled).toBe(a.unscaled * b.unscaled);
        expect(compareDecimals(divideDecimals(product, b)!, a)).toBe(0);
      }),
    );
  });

  test("divide to 40 digits with an error of at most half of the last one", () => {
    fc.assert(
      fc.property(nonZero, nonZero, (a, b) => {
        const quotient = divideDecimals(a, b)!;
        // | a / b - q | * 2 <= 10 ** -scale, all multiplied out.
        const left = a.unscaled * 10n ** BigInt(b.scale + quotient.scale);
        const right = quotient.unscaled * b.unscaled * 10n ** BigInt(a.scale);
        const distance = left > right ? left - right : right - left;
        const unit = b.unscaled * 10n ** BigInt(a.scale);
        expect(2n * distance).toBeLessThanOrEqual(unit < 0n ? -unit : unit);
      }),
    );
  });

  test("leave a remainder smaller than the divisor, of the sign of the dividend", () => {
    fc.assert(
      fc.property(anyDecimal, nonZero, (a, b) => {
        const rest = remainderOf(a, b)!;
        const size = (value: Decimal) => (value.unscaled < 0n ? negateDecimal(value) : value);
        expect(compareDecimals(size(rest), size(b))).toBe(-1);
        expect(rest.unscaled === 0n || rest.unscaled < 0n === a.unscaled < 0n).toBe(true);
      }),
    );
  });

  test.each([
    ["7.5", "2", "1.5"],
    ["-7.5", "2", "-1.5"],
    ["7.5", "-2", "1.5"],
  ])("%s modulo %s is %s", (a, b, rest) => {
    expect(shown(remainderOf(decimal(a), decimal(b)))).toBe(rest);
  });

  test("reject a division by zero", () => {
    expect(divideDecimals(decimal("1"), decimal("0.0"))).toBeUndefined();
    expect(remainderOf(decimal("1"), decimal("0"))).toBeUndefined();
    expect(powerOf(decimal("0"), decimal("-1"))).toBeUndefined();
  });

  test.each([
    ["2", "10", "1024"],
    ["2", "-2", "0.25"],
    ["1.05", "2", "1.1025"],
    ["-2", "3", "-8"],
    ["0", "0", "1"],
    ["0.5", "0", "1"],
    ["10", "39", `1${"0".repeat(39)}`],
  ])("%s to the power of %s is %s", (base, exponent, power) => {
    expect(shown(powerOf(decimal(base), decimal(exponent)))).toBe(power);
  });

  test("limit their digits under compound interest", () => {
    const year = powerOf(decimal("1.0001"), decimal("365"))!;
    expect(shown(roundDecimal(year, 12, "HALF_UP"))).toBe("1.037172411303");
    expect(year.unscaled.toString().length).toBeLessThanOrEqual(40);
  });

  test.each([
    ["10", "40"],
    ["99999999999999999999", "3"],
    ["2", "0.5"],
    ["1", "1001"],
    ["9", "387420489"],
  ])("%s to the power of %s is out of range", (base, exponent) => {
    expect(powerOf(decimal(base), decimal(exponent))).toBeUndefined();
  });

  test.each([
    ["75.55", 1, ["75.6", "75.5", "75.6"]],
    ["75.55", 0, ["76", "75", "76"]],
    ["75.55", -1, ["80", "70", "80"]],
    ["74.44", 1, ["74.4", "74.4", "74.5"]],
    ["74.44", -1, ["70", "70", "80"]],
    ["-2.5", 0, ["-3", "-3", "-2"]],
    ["2.5", 3, ["2.5", "2.5", "2.5"]],
    ["1250", -3, ["1000", "1000", "2000"]],
  ] as const)("%s rounded to %i is half up, down and up: %j", (value, places, expected) => {
    const modes = ["HALF_UP", "DOWN", "UP"] as const;
    expect(modes.map((mode) => shown(roundDecimal(decimal(value), places, mode)))).toEqual(
      expected,
    );
  });

  test("become minor units, rounded half up once", () => {
    fc.assert(
      fc.property(fc.bigInt(-(10n ** 15n), 10n ** 15n), (amount) => {
        expect(toMinorUnits(fromMinorUnits(amount))).toBe(amount);
      }),
    );
    expect(toMinorUnits(decimal("1.005"))).toBe(101n);
    expect(toMinorUnits(decimal("1.0049999"))).toBe(100n);
  });

  test("are read from JSON numbers as written", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, min: -1e30, max: 1e30 }), (value) => {
        const read = decimalOfNumber(value)!;
        const distance = Math.abs(Number(decimalText(read)) - value);
        expect(distance).toBeLessThanOrEqual(Math.max(Math.abs(value) * 1e-15, 1e-60));
      }),
    );
    expect(shown(decimalOfNumber(0.1))).toBe("0.1");
    expect(shown(decimalOfNumber(1e21))).toBe(`1${"0".repeat(21)}`);
    expect(shown(decimalOfNumber(1.5e-7))).toBe("0.00000015");
    expect(shown(decimalOfNumber(5e-324))).toBe("0");
    for (const none of [1e300, 1e40, NaN, Infinity, -Infinity]) {
      expect(decimalOfNumber(none)).toBeUndefined();
    }
  });

  test("report whether they are integers", () => {
    expect(wholeOf(decimal("-12.00"))).toBe(-12n);
    expect(wholeOf(decimal("0.5"))).toBeUndefined();
  });
});
