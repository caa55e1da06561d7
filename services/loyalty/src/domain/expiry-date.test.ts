import type { ExpirationRules, ExpiryRounding } from "@scrip/rules";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { expiryDate } from "./expiry-date.ts";
import { addDays, addMonths, dateOfDay, epochDayOf, lastDayOf, partsOf } from "./local-date.ts";

const months = (count: number, rounding: ExpiryRounding | null = null): ExpirationRules => ({
  type: "MONTH",
  months: count,
  rounding,
});
const fixed = (month: number, day: number): ExpirationRules => ({
  type: "FIXED_DAY_OF_YEAR",
  month,
  day,
});

/** Worked examples of each rule, and the edges of months and years. */
const CASES: readonly (readonly [string, ExpirationRules | null, string | null])[] = [
  ["2026-01-25", months(1), "2026-02-25"],
  ["2026-01-31", months(1), "2026-02-28"],
  ["2028-01-31", months(1), "2028-02-29"],
  ["2026-01-01", months(0), "2026-01-01"],
  ["2026-01-10", months(1, { type: "END_OF_MONTH" }), "2026-02-28"],
  ["2025-01-27", months(2, { type: "PARTICULAR_MONTH", month: 1 }), "2026-01-31"],
  ["2025-01-27", months(2, { type: "PARTICULAR_MONTH", month: 3 }), "2025-03-31"],
  ["2024-07-24", months(12), "2025-07-24"],
  ["2024-02-29", months(12), "2025-02-28"],
  ["2026-05-15", months(1, { type: "END_OF_QUARTER" }), "2026-06-30"],
  ["2026-05-15", months(1, { type: "END_OF_HALF_YEAR" }), "2026-06-30"],
  ["2026-05-15", months(1, { type: "END_OF_YEAR" }), "2026-12-31"],
  ["2026-05-15", months(2, { type: "END_OF_HALF_YEAR" }), "2026-12-31"],
  ["2026-12-31", months(1, { type: "END_OF_QUARTER" }), "2027-03-31"],
  ["2026-08-21", fixed(12, 31), "2026-12-31"],
  ["2026-12-31", fixed(12, 31), "2026-12-31"],
  ["2026-08-21", fixed(8, 20), "2027-08-20"],
  ["2026-02-01", fixed(2, 30), "2026-02-28"],
  ["2026-08-21", null, null],
];

describe("expiryDate", () => {
  test.each(CASES)("points of %s with %j expire on %s", (creditedOn, rules, expected) => {
    expect(expiryDate(rules, creditedOn)).toBe(expected);
  });

  const dates = fc.integer({ min: 0, max: 40_000 }).map(dateOfDay);
  const roundings = fc.constantFrom<ExpiryRounding | null>(
    null,
    { type: "END_OF_MONTH" },
    { type: "END_OF_QUARTER" },
    { type: "END_OF_HALF_YEAR" },
    { type: "END_OF_YEAR" },
    ...Array.from({ length: 12 }, (_, index) => ({
      type: "PARTICULAR_MONTH" as const,
      month: index + 1,
    })),
  );

  test("is never before the credit, and rounding moves it forward by less than a year", () => {
    fc.assert(
      fc.property(dates, fc.nat(60), roundings, (creditedOn, count, rounding) => {
        const plain = expiryDate(months(count), creditedOn)!;
        const rounded = expiryDate(months(count, rounding), creditedOn)!;
        expect(plain >= creditedOn).toBe(true);
        expect(rounded >= plain).toBe(true);
        expect(epochDayOf(rounded) - epochDayOf(plain)).toBeLessThan(366);
      }),
    );
  });

  test("rounds to the last day of a month, and rounding again changes nothing", () => {
    fc.assert(
      fc.property(dates, fc.nat(60), roundings, (creditedOn, count, rounding) => {
        fc.pre(rounding !== null);
        const rounded = expiryDate(months(count, rounding), creditedOn)!;
        const { year, month } = partsOf(rounded);
        expect(rounded).toBe(lastDayOf(year, month));
        expect(expiryDate(months(0, rounding), rounded)).toBe(rounded);
      }),
    );
  });

  test("never decreases with a later credit or a longer period", () => {
    fc.assert(
      fc.property(dates, fc.nat(400), fc.nat(60), roundings, (from, days, count, rounding) => {
        const rules = months(count, rounding);
        const earlier = expiryDate(rules, from)!;
        expect(expiryDate(rules, addDays(from, days))! >= earlier).toBe(true);
        expect(expiryDate(months(count + 1, rounding), from)! >= earlier).toBe(true);
      }),
    );
  });

  test("of a fixed day is within a year of the credit", () => {
    const day = fc.record({
      month: fc.integer({ min: 1, max: 12 }),
      day: fc.integer({ min: 1, max: 31 }),
    });
    fc.assert(
      fc.property(dates, day, (from, { month, day: dayOfMonth }) => {
        const expires = expiryDate(fixed(month, dayOfMonth), from)!;
        expect(expires >= from && expires <= addMonths(from, 12)).toBe(true);
        expect(partsOf(expires).month).toBe(month);
      }),
    );
  });
});
