import fc from "fast-check";
import { expect, test } from "vitest";

import {
  compareDecimals,
  isCalendarDay,
  isDecimal,
  isLongerThan,
  isShorterThan,
} from "./formats.ts";

/** An integer and its number of decimal places. */
type Decimal = [digits: number, scale: number];

function toText([digits, scale]: Decimal): string {
  const text = String(Math.abs(digits)).padStart(scale + 1, "0");
  const point = text.length - scale;
  const sign = digits < 0 ? "-" : "";
  return scale === 0 ? sign + text : `${sign}${text.slice(0, point)}.${text.slice(point)}`;
}

const exact = ([digits, scale]: Decimal): bigint => BigInt(digits) * 10n ** BigInt(8 - scale);

test("compares decimals as exact numbers", () => {
  const parts = fc.tuple(fc.maxSafeInteger(), fc.nat({ max: 8 }));
  fc.assert(
    fc.property(parts, parts, (left, right) => {
      const difference = exact(left) - exact(right);
      const sign = difference === 0n ? 0 : difference < 0n ? -1 : 1;
      expect(compareDecimals(toText(left), toText(right))).toBe(sign);
    }),
  );
});

test.each(["0", "-1", "10.50", "0.1", "9".repeat(40)])("accepts %s as a decimal", (text) => {
  expect(isDecimal(text)).toBe(true);
});

test.each(["", "-", "01", ".5", "5.", "1e3", "+1", "1,5", " 1", "NaN", "9".repeat(41)])(
  "rejects %j as a decimal",
  (text) => {
    expect(isDecimal(text)).toBe(false);
  },
);

test("accepts exactly the days of the calendar", () => {
  const day = fc.date({
    noInvalidDate: true,
    min: new Date("0001-01-01"),
    max: new Date("9999-12-31"),
  });
  fc.assert(
    fc.property(day, (date) => {
      expect(isCalendarDay(date.toISOString().slice(0, 10))).toBe(true);
    }),
  );
  for (const text of [
    "2026-02-29",
    "1900-02-29",
    "2026-04-31",
    "2026-13-01",
    "0000-01-01",
    "2026-1-1",
    "2026-01-01T00",
  ]) {
    expect(isCalendarDay(text)).toBe(false);
  }
});

test("counts characters as people do", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.nat({ max: 20 }), (text, bound) => {
      const length = Array.from(text).length;
      expect(isLongerThan(text, bound)).toBe(length > bound);
      expect(isShorterThan(text, bound)).toBe(length < bound);
    }),
  );
});
