import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { checkValidity } from "./check-validity.ts";
import { evaluateValidity, isWithinDates } from "./evaluate-validity.ts";
import {
  at,
  everySecondDay,
  hours,
  lunch,
  march,
  noon,
  cases,
  unlimited,
} from "./validity.test-cases.ts";

describe("evaluateValidity", () => {
  const inZones = cases.map(
    ([what, limits, now, verdict, timeZone = "UTC"]) =>
      [what, limits, now, verdict, timeZone] as const,
  );
  test.each(inZones)("evaluates one that %s", (_what, ...row) => {
    const [limits, now, verdict, timeZone] = row;
    const time = { now: at(now), timeZone };
    expect(evaluateValidity({ ...unlimited, ...limits }, null, time)).toBe(verdict);
  });

  const before = noon - 1;
  const after = noon + 1;
  test.each([
    ["applies the parent's start date", {}, { startDate: after }, "not_started"],
    ["opens with the parent at this instant", {}, { startDate: noon }, "open"],
    ["applies both start dates", { startDate: before }, { startDate: after }, "not_started"],
    [
      "applies its own later start date",
      { startDate: after },
      { startDate: before },
      "not_started",
    ],
    ["applies the parent's expiration", {}, { expirationDate: before }, "ended"],
    [
      "outlives the parent by its own expiration",
      { expirationDate: after },
      { expirationDate: before },
      "open",
    ],
    [
      "ends before the parent by its own expiration",
      { expirationDate: before },
      { expirationDate: after },
      "ended",
    ],
    ["inherits the parent's weekdays", {}, { daysOfWeek: [1] }, "outside_window"],
    ["replaces the parent's weekdays", { daysOfWeek: [6] }, { daysOfWeek: [1] }, "open"],
    ["inherits the parent's hours", {}, hours(["13:00", "14:00"]), "outside_window"],
    ["replaces the parent's hours", hours(["11:00", "12:00"]), hours(["13:00", "14:00"]), "open"],
    [
      "combines its weekdays with the parent's hours",
      { daysOfWeek: [6] },
      hours(["13:00", "14:00"]),
      "outside_window",
    ],
    [
      "counts the parent's windows from the parent's start",
      { startDate: at("2026-11-20T12:00:00Z") },
      { startDate: at("2026-11-19T00:00:00Z"), timeframe: { interval: "P2D", duration: "P1D" } },
      "open",
    ],
    [
      "counts the parent's windows from its own start when the parent has none",
      { startDate: at("2026-11-20T00:00:00Z") },
      { timeframe: { interval: "P2D", duration: "P1D" } },
      "outside_window",
    ],
    [
      "counts its own windows from its own start",
      { startDate: at("2026-11-21T00:00:00Z"), timeframe: { interval: "P2D", duration: "P1D" } },
      { startDate: at("2026-11-20T00:00:00Z"), timeframe: { interval: "P2D", duration: "PT1H" } },
      "open",
    ],
  ] as const)("%s", (_what, own, parent, verdict) => {
    const time = { now: noon, timeZone: "UTC" };
    const limits = [
      { ...unlimited, ...own },
      { ...unlimited, ...parent },
    ] as const;
    expect(evaluateValidity(...limits, time)).toBe(verdict);
  });

  test("is open exactly inside start + k · interval for any interval of real time", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10_000 }),
        fc.integer({ min: 1, max: 10_000 }),
        fc.integer({ min: 0, max: 1_000_000_000 }),
        (interval, duration, elapsed) => {
          const timeframe = { interval: `PT${interval}M`, duration: `PT${duration}M` };
          const inside = elapsed % (interval * 60_000) < duration * 60_000;
          const time = { now: noon + elapsed, timeZone: "America/New_York" };
          expect(evaluateValidity({ ...unlimited, startDate: noon, timeframe }, null, time)).toBe(
            inside ? "open" : "outside_window",
          );
        },
      ),
    );
  });
});

describe("checkValidity", () => {
  test.each([
    ["no limits", {}],
    ["one instant", { startDate: noon, expirationDate: noon }],
    ["a timeframe with weekdays", { ...everySecondDay, daysOfWeek: [0, 6] }],
    ["hours that only touch", hours(["12:00", "14:00"], ["14:00", "16:00"])],
    ["equal hours on different days", hours(["12:00", "14:00", [1]], ["12:00", "14:00", [2]])],
    ["a night and the next morning", hours(["22:00", "02:00", [6]], ["02:00", "08:00", [0]])],
  ])("accepts %s", (_what, limits) => {
    expect(checkValidity({ ...unlimited, ...limits })).toBeNull();
  });

  const needsStart = "Property .validity_timeframe requires .start_date";
  const exclusive =
    "Property .validity_hours cannot be combined with .validity_timeframe or .validity_day_of_week";
  const overlapping = "Property .validity_hours must not have overlapping entries";
  test.each([
    [
      "dates in the wrong order",
      { startDate: noon, expirationDate: noon - 1 },
      "Property .expiration_date must not be before .start_date",
    ],
    ["a timeframe without a start", { timeframe: everySecondDay.timeframe }, needsStart],
    [
      "an interval of zero",
      { ...march, timeframe: { interval: "P0D", duration: "P1D" } },
      "Property .validity_timeframe.interval must be an ISO 8601 duration above zero",
    ],
    [
      "an unreadable duration",
      { ...march, timeframe: { interval: "P1D", duration: "a day" } },
      "Property .validity_timeframe.duration must be an ISO 8601 duration above zero",
    ],
    [
      "an eighth weekday",
      { daysOfWeek: [1, 7] },
      "Property .validity_day_of_week must hold numbers from 0 (Sunday) to 6 (Saturday)",
    ],
    [
      "half a weekday",
      { daysOfWeek: [0.5] },
      "Property .validity_day_of_week must hold numbers from 0 (Sunday) to 6 (Saturday)",
    ],
    ["hours with weekdays", { ...lunch, daysOfWeek: [6] }, exclusive],
    ["hours with a timeframe", { ...lunch, ...everySecondDay }, exclusive],
    [
      "an invalid start time",
      hours(["24:00", "12:00"]),
      "Property .validity_hours.daily[0].start_time must be written as HH:mm",
    ],
    [
      "an invalid end time",
      hours(["08:00", "9:00"]),
      "Property .validity_hours.daily[0].expiration_time must be written as HH:mm",
    ],
    [
      "hours without length",
      hours(["08:00", "08:00"]),
      "Property .validity_hours.daily[0].expiration_time must differ from .start_time",
    ],
    [
      "hours on an eighth weekday",
      hours(["08:00", "09:00", [7]]),
      "Property .validity_hours.daily[0].days_of_week must hold numbers from 0 (Sunday) to 6 (Saturday)",
    ],
    ["hours that overlap", hours(["12:00", "14:01", [1, 2]], ["14:00", "16:00", [2]]), overlapping],
    ["hours inside others", hours(["12:00", "20:00"], ["14:00", "15:00", [3]]), overlapping],
    [
      "a night that reaches into the next morning",
      hours(["22:00", "02:00", [3]], ["01:00", "08:00", [4]]),
      overlapping,
    ],
    [
      "a Saturday night that reaches into Sunday",
      hours(["22:00", "02:00", [6]], ["01:00", "08:00", [0]]),
      overlapping,
    ],
  ])("rejects %s", (_what, limits, text) => {
    expect(checkValidity({ ...unlimited, ...limits })).toBe(text);
  });
});

test("isWithinDates agrees with the dates of evaluateValidity, whatever the recurring limits", () => {
  const instant = fc.option(fc.integer({ min: -3, max: 3 }), { nil: null });
  fc.assert(
    fc.property(instant, instant, fc.integer({ min: -4, max: 4 }), (start, end, now) => {
      const dates = { startDate: start, expirationDate: end };
      const status = evaluateValidity({ ...unlimited, ...dates }, null, { now, timeZone: "UTC" });
      expect(isWithinDates(dates, now)).toBe(status === "open");
    }),
  );
});
