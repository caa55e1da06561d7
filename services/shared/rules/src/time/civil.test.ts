import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { MS_PER_DAY, civilFromDays, daysFromCivil, daysInMonth, weekdayOf } from "./civil.ts";

const anyDay = fc.integer({ min: -1_000_000, max: 4_000_000 });

describe("the calendar", () => {
  test.each([
    [{ year: 1970, month: 1, day: 1 }, 0],
    [{ year: 1969, month: 12, day: 31 }, -1],
    [{ year: 2000, month: 2, day: 29 }, 11_016],
    [{ year: 2028, month: 2, day: 29 }, 21_243],
    [{ year: 2100, month: 3, day: 1 }, 47_541],
  ])("counts days from 1970-01-01 to %o", (date, days) => {
    expect(daysFromCivil(date)).toBe(days);
    expect(civilFromDays(days)).toEqual(date);
  });

  test("agrees with the calendar of the platform on every day", () => {
    fc.assert(
      fc.property(anyDay, (days) => {
        const date = new Date(days * MS_PER_DAY);
        expect(civilFromDays(days)).toEqual({
          year: date.getUTCFullYear(),
          month: date.getUTCMonth() + 1,
          day: date.getUTCDate(),
        });
        expect(weekdayOf(days)).toBe(date.getUTCDay());
        expect(daysFromCivil(civilFromDays(days))).toBe(days);
      }),
    );
  });

  test.each([
    [2026, 2, 28],
    [2028, 2, 29],
    [2000, 2, 29],
    [2100, 2, 28],
    [2026, 4, 30],
    [2026, 12, 31],
  ])("returns the length of a month: %i-%i has %i days", (year, month, days) => {
    expect(daysInMonth(year, month)).toBe(days);
  });
});
