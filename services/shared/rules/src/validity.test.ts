import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { type DailyHours, type Validity, checkValidity, judgeValidity } from "./validity.ts";

type Scenario = readonly [
  what: string,
  limits: Partial<Validity>,
  at: string,
  verdict: ReturnType<typeof judgeValidity>,
  timeZone?: string,
];

const at = (text: string): number => Date.parse(text);

const noon = at("2026-11-21T12:00:00.000Z");

const unlimited: Validity = {
  startDate: null,
  expirationDate: null,
  timeframe: null,
  daysOfWeek: null,
  hours: null,
};

const dates = [
  ["has no limits", {}, "2026-11-21T12:00:00.000Z", "open"],
  ["starts this very instant", { startDate: noon }, "2026-11-21T12:00:00.000Z", "open"],
  ["starts a moment later", { startDate: noon }, "2026-11-21T11:59:59.999Z", "not_started"],
  ["expires this very instant", { expirationDate: noon }, "2026-11-21T12:00:00.000Z", "open"],
  ["expired a moment ago", { expirationDate: noon }, "2026-11-21T12:00:00.001Z", "ended"],
] as const satisfies Scenario[];

const march = { startDate: at("2026-03-01T00:00:00Z") };
const everySecondDay = { ...march, timeframe: { interval: "P2D", duration: "P1D" } };
const monthlyFromThe31st = {
  startDate: at("2026-01-31T00:00:00Z"),
  timeframe: { interval: "P1M", duration: "P1D" },
};
const dailyInWarsaw = {
  // 02:30 on the wall, which 29 March skips and 25 October shows twice.
  startDate: at("2026-03-01T01:30:00Z"),
  timeframe: { interval: "P1D", duration: "PT1H" },
};

const timeframes = [
  ["is before its start", everySecondDay, "2026-02-28T23:59:59.999Z", "not_started"],
  ["is in its first window", everySecondDay, "2026-03-01T00:00:00.000Z", "open"],
  ["is at the end of its first window", everySecondDay, "2026-03-01T23:59:59.999Z", "open"],
  ["has just left its first window", everySecondDay, "2026-03-02T00:00:00.000Z", "outside_window"],
  ["is in its second window", everySecondDay, "2026-03-03T12:00:00.000Z", "open"],
  ["is between windows", everySecondDay, "2026-03-04T12:00:00.000Z", "outside_window"],
  ["is in a window years later", everySecondDay, "2030-02-28T12:00:00.000Z", "open"],
  ["is between windows years later", everySecondDay, "2030-03-01T12:00:00.000Z", "outside_window"],
  ["runs on the last day of February", monthlyFromThe31st, "2026-02-28T12:00:00.000Z", "open"],
  ["does not run on 1 March", monthlyFromThe31st, "2026-03-01T00:00:00.000Z", "outside_window"],
  ["runs on 31 March again", monthlyFromThe31st, "2026-03-31T12:00:00.000Z", "open"],
  ["does not run on 28 March", monthlyFromThe31st, "2026-03-28T12:00:00.000Z", "outside_window"],
  ["runs on a leap day", monthlyFromThe31st, "2028-02-29T12:00:00.000Z", "open"],
  [
    "does not run a day before it",
    monthlyFromThe31st,
    "2028-02-28T23:59:59.999Z",
    "outside_window",
  ],
  [
    "runs yearly from a leap day",
    { startDate: at("2028-02-29T00:00:00Z"), timeframe: { interval: "P1Y", duration: "P1D" } },
    "2029-02-28T00:00:00.000Z",
    "open",
  ],
  [
    "has windows that overlap",
    { ...march, timeframe: { interval: "P1D", duration: "P3D" } },
    "2026-03-09T23:00:00.000Z",
    "open",
  ],
  [
    "has windows of hours",
    { ...march, timeframe: { interval: "PT6H", duration: "PT1H" } },
    "2026-03-05T06:59:59.999Z",
    "open",
  ],
  [
    "is past a window of hours",
    { ...march, timeframe: { interval: "PT6H", duration: "PT1H" } },
    "2026-03-05T07:00:00.000Z",
    "outside_window",
  ],
  [
    "keeps its local hour in summer",
    dailyInWarsaw,
    "2026-07-01T00:30:00.000Z",
    "open",
    "Europe/Warsaw",
  ],
  [
    "left its winter hour",
    dailyInWarsaw,
    "2026-07-01T01:30:00.000Z",
    "outside_window",
    "Europe/Warsaw",
  ],
  [
    "opens late where the clocks skip its hour",
    dailyInWarsaw,
    "2026-03-29T01:30:00.000Z",
    "open",
    "Europe/Warsaw",
  ],
  [
    "is not open yet on that day",
    dailyInWarsaw,
    "2026-03-29T01:29:59.999Z",
    "outside_window",
    "Europe/Warsaw",
  ],
  [
    "takes the first of two equal hours",
    dailyInWarsaw,
    "2026-10-25T00:30:00.000Z",
    "open",
    "Europe/Warsaw",
  ],
  [
    "ends an hour later",
    dailyInWarsaw,
    "2026-10-25T01:30:00.000Z",
    "outside_window",
    "Europe/Warsaw",
  ],
  [
    "has a timeframe but no start",
    { timeframe: everySecondDay.timeframe },
    "2026-03-03T12:00:00.000Z",
    "outside_window",
  ],
] as const satisfies Scenario[];

const onSunday = { daysOfWeek: [0] };
const onMonday = { daysOfWeek: [1] };

const weekdays = [
  ["is for Sundays, late on Sunday", onSunday, "2026-11-22T23:30:00.000Z", "open"],
  [
    "is for Sundays, when Warsaw has Monday",
    onSunday,
    "2026-11-22T23:30:00.000Z",
    "outside_window",
    "Europe/Warsaw",
  ],
  [
    "is for Mondays, when Warsaw has Monday",
    onMonday,
    "2026-11-22T23:30:00.000Z",
    "open",
    "Europe/Warsaw",
  ],
  [
    "is for Mondays, when only UTC has Sunday",
    onMonday,
    "2026-11-22T18:30:00.000Z",
    "open",
    "Asia/Kolkata",
  ],
  [
    "is for Sundays, half an hour short of Monday",
    onSunday,
    "2026-11-22T18:29:59.999Z",
    "open",
    "Asia/Kolkata",
  ],
  ["is for any day", { daysOfWeek: [] }, "2026-11-22T18:29:59.999Z", "open"],
  ["is for both weekend days", { daysOfWeek: [6, 0] }, "2026-11-21T00:00:00.000Z", "open"],
  [
    "is inside its timeframe on the wrong weekday",
    { ...everySecondDay, daysOfWeek: [1] },
    "2026-03-03T12:00:00.000Z",
    "outside_window",
  ],
  [
    "is inside its timeframe on the right weekday",
    { ...everySecondDay, daysOfWeek: [2] },
    "2026-03-03T12:00:00.000Z",
    "open",
  ],
] as const satisfies Scenario[];

const hours = (...daily: [from: string, to: string, days?: readonly number[]][]) => ({
  hours: {
    daily: daily.map(([startTime, expirationTime, daysOfWeek = []]): DailyHours => ({
      startTime,
      expirationTime,
      daysOfWeek,
    })),
  },
});
const lunch = hours(["12:00", "14:00", [6]]);
const night = hours(["22:00", "02:00", [6]]);
const small = hours(["02:00", "03:00"]);

const dailyHours = [
  ["opens at the first instant", lunch, "2026-11-21T12:00:00.000Z", "open"],
  ["is not open a moment before", lunch, "2026-11-21T11:59:59.999Z", "outside_window"],
  ["is open at the last instant", lunch, "2026-11-21T14:00:00.000Z", "open"],
  ["is closed a moment after", lunch, "2026-11-21T14:00:00.001Z", "outside_window"],
  ["is closed on another weekday", lunch, "2026-11-22T12:00:00.000Z", "outside_window"],
  ["goes by the clocks of the zone", lunch, "2026-11-21T11:00:00.000Z", "open", "Europe/Warsaw"],
  [
    "goes by the clocks of the zone in summer",
    lunch,
    "2026-07-04T12:00:00.001Z",
    "outside_window",
    "Europe/Warsaw",
  ],
  ["goes by half hours too", lunch, "2026-11-21T06:30:00.000Z", "open", "Asia/Kolkata"],
  [
    "has several hours",
    hours(["08:00", "09:00"], ["17:00", "18:00"]),
    "2026-11-21T17:30:00.000Z",
    "open",
  ],
  [
    "is between several hours",
    hours(["08:00", "09:00"], ["17:00", "18:00"]),
    "2026-11-21T12:00:00.000Z",
    "outside_window",
  ],
  ["runs into the night", night, "2026-11-21T22:00:00.000Z", "open"],
  ["runs past midnight", night, "2026-11-22T02:00:00.000Z", "open"],
  ["ends in the night", night, "2026-11-22T02:00:00.001Z", "outside_window"],
  ["does not begin with the night before", night, "2026-11-21T01:00:00.000Z", "outside_window"],
  [
    "has hours that the clocks skip",
    small,
    "2026-03-29T00:59:59.999Z",
    "outside_window",
    "Europe/Warsaw",
  ],
  ["meets their end after the gap", small, "2026-03-29T01:00:00.000Z", "open", "Europe/Warsaw"],
  ["has hours shown twice, first", small, "2026-10-25T00:15:00.000Z", "open", "Europe/Warsaw"],
  ["has hours shown twice, second", small, "2026-10-25T01:15:00.000Z", "open", "Europe/Warsaw"],
  ["lists no hours at all", hours(), "2026-11-21T12:00:00.000Z", "open"],
] as const satisfies Scenario[];

describe("judgeValidity", () => {
  const scenarios: Scenario[] = [...dates, ...timeframes, ...weekdays, ...dailyHours];
  const inZones = scenarios.map(
    ([what, limits, now, verdict, timeZone = "UTC"]) =>
      [what, limits, now, verdict, timeZone] as const,
  );
  test.each(inZones)("judges one that %s", (_what, ...row) => {
    const [limits, now, verdict, timeZone] = row;
    const moment = { now: at(now), timeZone };
    expect(judgeValidity({ ...unlimited, ...limits }, null, moment)).toBe(verdict);
  });

  const before = noon - 1;
  const after = noon + 1;
  test.each([
    ["obeys the parent's start date", {}, { startDate: after }, "not_started"],
    ["obeys both start dates", { startDate: before }, { startDate: after }, "not_started"],
    ["obeys its own later start date", { startDate: after }, { startDate: before }, "not_started"],
    ["obeys the parent's expiration", {}, { expirationDate: before }, "ended"],
    [
      "outlives the parent by its own",
      { expirationDate: after },
      { expirationDate: before },
      "open",
    ],
    [
      "ends before the parent by its own",
      { expirationDate: before },
      { expirationDate: after },
      "ended",
    ],
    ["takes over the parent's weekdays", {}, { daysOfWeek: [1] }, "outside_window"],
    ["replaces the parent's weekdays", { daysOfWeek: [6] }, { daysOfWeek: [1] }, "open"],
    ["takes over the parent's hours", {}, hours(["13:00", "14:00"]), "outside_window"],
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
    const moment = { now: noon, timeZone: "UTC" };
    const limits = [
      { ...unlimited, ...own },
      { ...unlimited, ...parent },
    ] as const;
    expect(judgeValidity(...limits, moment)).toBe(verdict);
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
          const moment = { now: noon + elapsed, timeZone: "America/New_York" };
          expect(judgeValidity({ ...unlimited, startDate: noon, timeframe }, null, moment)).toBe(
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
      "an interval of nothing",
      { ...march, timeframe: { interval: "P0D", duration: "P1D" } },
      "Property .validity_timeframe.interval must be an ISO 8601 duration above zero",
    ],
    [
      "a duration that is none",
      { ...march, timeframe: { interval: "P1D", duration: "a day" } },
      "Property .validity_timeframe.duration must be an ISO 8601 duration above zero",
    ],
    [
      "an eighth weekday",
      { daysOfWeek: [7] },
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
      "a start time that is none",
      hours(["24:00", "12:00"]),
      "Property .validity_hours.daily[0].start_time must be written as HH:mm",
    ],
    [
      "an end time that is none",
      hours(["08:00", "9:00"]),
      "Property .validity_hours.daily[0].expiration_time must be written as HH:mm",
    ],
    [
      "hours of no length",
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
  ])("refuses %s", (_what, limits, text) => {
    expect(checkValidity({ ...unlimited, ...limits })).toBe(text);
  });
});
