import { civilFromDays, daysFromCivil } from "@scrip/rules";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { monthDaysOf, monthDaySpan } from "./month-days.ts";
import { spanOf } from "./spans.ts";

const dayOf = (text: string): number => {
  const [year = 0, month = 0, day = 0] = text.split("-").map(Number);
  return daysFromCivil({ year, month, day });
};

const textOf = (epochDay: number): string => {
  const { year, month, day } = civilFromDays(epochDay);
  return `${year}-${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}`;
};

const spanText = (
  operator: string,
  today: string,
  n = 0,
  firstWeekday?: number,
): string | undefined => {
  const span = spanOf(operator, { day: dayOf(today), firstWeekday }, n);
  return span && `${textOf(span.from)}..${textOf(span.to)}`;
};

describe("spanOf", () => {
  // 2026-11-21 is a Saturday.
  test.each([
    ["$today", "2026-11-21", 0, "2026-11-21..2026-11-22"],
    ["$tomorrow", "2026-12-31", 0, "2027-01-01..2027-01-02"],
    ["$yesterday", "2024-03-01", 0, "2024-02-29..2024-03-01"],
    ["$this_week", "2026-11-21", 0, "2026-11-16..2026-11-23"],
    ["$this_week", "2026-11-22", 0, "2026-11-16..2026-11-23"],
    ["$this_week", "2026-11-23", 0, "2026-11-23..2026-11-30"],
    ["$last_week", "2026-01-01", 0, "2025-12-22..2025-12-29"],
    ["$next_week", "2026-11-21", 0, "2026-11-23..2026-11-30"],
    ["$this_month", "2024-02-10", 0, "2024-02-01..2024-03-01"],
    ["$last_month", "2026-01-31", 0, "2025-12-01..2026-01-01"],
    ["$next_month", "2026-12-31", 0, "2027-01-01..2027-02-01"],
    ["$this_year", "2026-11-21", 0, "2026-01-01..2027-01-01"],
    ["$last_year", "2026-11-21", 0, "2025-01-01..2026-01-01"],
    ["$next_year", "2026-11-21", 0, "2027-01-01..2028-01-01"],
    ["$is_days_ago", "2026-11-21", 21, "2026-10-31..2026-11-01"],
    ["$is_days_in_future", "2026-11-21", 10, "2026-12-01..2026-12-02"],
    ["$is_years_ago", "2026-11-21", 3, "2023-11-21..2023-11-22"],
    ["$is_years_ago", "2024-02-29", 1, "2023-02-28..2023-03-01"],
    ["$is_years_ago", "2024-02-29", 4, "2020-02-29..2020-03-01"],
  ])("computes the range of %s on %s (%i)", (operator, today, n, expected) => {
    expect(spanText(operator, today, n)).toBe(expected);
  });

  test.each([
    [0, "2026-11-21", "2026-11-15..2026-11-22"],
    [0, "2026-11-22", "2026-11-22..2026-11-29"],
    [6, "2026-11-21", "2026-11-21..2026-11-28"],
    [6, "2026-11-20", "2026-11-14..2026-11-21"],
  ])("starts weeks on day %i, on %s", (firstWeekday, today, expected) => {
    expect(spanText("$this_week", today, 0, firstWeekday)).toBe(expected);
  });

  test("divides the calendar into weeks, months and years without gaps or overlaps", () => {
    const days = fc.integer({ min: -30_000, max: 60_000 });
    fc.assert(
      fc.property(days, fc.integer({ min: 0, max: 6 }), (today, firstWeekday) => {
        for (const unit of ["week", "month", "year"]) {
          const [last, here, next] = ["last", "this", "next"].map((which) =>
            spanOf(`$${which}_${unit}`, { day: today, firstWeekday }, 0),
          );
          expect(last?.to).toBe(here?.from);
          expect(here?.to).toBe(next?.from);
          expect(here !== undefined && here.from <= today && today < here.to).toBe(true);
        }
      }),
    );
  });

  test("returns undefined for an operator without a range", () => {
    expect(spanOf("$is", { day: 0 }, 0)).toBeUndefined();
  });
});

const monthDays = (operator: string, today: string, n = 0): readonly number[] | undefined => {
  const span = monthDaySpan(operator, { day: dayOf(today) }, n);
  return span && monthDaysOf(span);
};

describe("monthDaysOf", () => {
  test.each([
    ["$today_md", "2026-11-21", 0, [1121]],
    ["$today_md", "2026-02-28", 0, [228, 229]],
    ["$today_md", "2024-02-28", 0, [228]],
    ["$today_md", "2024-02-29", 0, [229]],
    ["$tomorrow_md", "2026-12-31", 0, [101]],
    ["$is_days_ago_md", "2026-03-01", 1, [228, 229]],
    ["$is_days_in_future_md", "2026-12-30", 3, [102]],
    ["$is_more_days_ago_md", "2026-01-04", 1, [101, 102]],
    ["$is_less_days_ago_md", "2026-01-02", 3, [1231, 101, 102]],
    ["$is_more_days_in_future_md", "2026-12-28", 1, [1230, 1231]],
    ["$is_less_days_in_future_md", "2026-12-31", 2, [1231, 101]],
    ["$is_more_days_ago_md", "2026-01-04", 400, []],
  ])("computes the days of the year of %s on %s (%i)", (operator, today, n, expected) => {
    expect(monthDays(operator, today, n)).toEqual(expected);
  });

  test("spans seven days of the year for a week and up to 31 for a month", () => {
    expect(monthDays("$this_week_md", "2026-11-21")).toEqual([
      1116, 1117, 1118, 1119, 1120, 1121, 1122,
    ]);
    expect(monthDays("$next_month_md", "2026-11-21")).toHaveLength(31);
    expect(monthDays("$this_month", "2026-11-21")).toBeUndefined();
  });
});
