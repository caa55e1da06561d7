import type { DailyHours, ValidityStatus, Validity } from "./validity.ts";

type Case = readonly [
  what: string,
  limits: Partial<Validity>,
  at: string,
  status: ValidityStatus,
  timeZone?: string,
];

export const at = (text: string): number => Date.parse(text);

export const noon = at("2026-11-21T12:00:00.000Z");

export const unlimited: Validity = {
  startDate: null,
  expirationDate: null,
  timeframe: null,
  daysOfWeek: null,
  hours: null,
};

const dates = [
  ["has no limits", {}, "2026-11-21T12:00:00.000Z", "open"],
  ["starts at this instant", { startDate: noon }, "2026-11-21T12:00:00.000Z", "open"],
  ["starts a millisecond later", { startDate: noon }, "2026-11-21T11:59:59.999Z", "not_started"],
  ["expires at this instant", { expirationDate: noon }, "2026-11-21T12:00:00.000Z", "open"],
  ["expired a millisecond ago", { expirationDate: noon }, "2026-11-21T12:00:00.001Z", "ended"],
] as const satisfies Case[];

export const march = { startDate: at("2026-03-01T00:00:00Z") };
export const everySecondDay = { ...march, timeframe: { interval: "P2D", duration: "P1D" } };
const monthlyFromThe31st = {
  startDate: at("2026-01-31T00:00:00Z"),
  timeframe: { interval: "P1M", duration: "P1D" },
};
const dailyInWarsaw = {
  // Local time 02:30, which 29 March skips and 25 October repeats.
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
    "is on the last day of a year longer than most",
    { startDate: at("2028-01-01T00:00:00Z"), timeframe: { interval: "P1Y", duration: "P1Y" } },
    "2028-12-31T20:00:00.000Z",
    "open",
  ],
  [
    "has an unreadable interval",
    { ...march, timeframe: { interval: "often", duration: "P1D" } },
    "2026-03-03T12:00:00.000Z",
    "outside_window",
  ],
  [
    "has an unreadable duration",
    { ...march, timeframe: { interval: "P1D", duration: "long" } },
    "2026-03-03T12:00:00.000Z",
    "outside_window",
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
    "opens late where the clocks skip its start",
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
    "takes the first of two repeated hours",
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
] as const satisfies Case[];

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
] as const satisfies Case[];

export const hours = (...daily: [from: string, to: string, days?: readonly number[]][]) => ({
  hours: {
    daily: daily.map(([startTime, expirationTime, daysOfWeek = []]): DailyHours => ({
      startTime,
      expirationTime,
      daysOfWeek,
    })),
  },
});
export const lunch = hours(["12:00", "14:00", [6]]);
const night = hours(["22:00", "02:00", [6]]);
const small = hours(["02:00", "03:00"]);

const dailyHours = [
  ["opens at the first instant", lunch, "2026-11-21T12:00:00.000Z", "open"],
  ["is not open a millisecond before", lunch, "2026-11-21T11:59:59.999Z", "outside_window"],
  ["is open at the last instant", lunch, "2026-11-21T14:00:00.000Z", "open"],
  ["is closed a millisecond after", lunch, "2026-11-21T14:00:00.001Z", "outside_window"],
  ["is closed on another weekday", lunch, "2026-11-22T12:00:00.000Z", "outside_window"],
  ["follows local time", lunch, "2026-11-21T11:00:00.000Z", "open", "Europe/Warsaw"],
  [
    "follows local time in summer",
    lunch,
    "2026-07-04T12:00:00.001Z",
    "outside_window",
    "Europe/Warsaw",
  ],
  ["follows offsets of half an hour", lunch, "2026-11-21T06:30:00.000Z", "open", "Asia/Kolkata"],
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
  [
    "is open at their end after the gap",
    small,
    "2026-03-29T01:00:00.000Z",
    "open",
    "Europe/Warsaw",
  ],
  [
    "has repeated hours, the first time",
    small,
    "2026-10-25T00:15:00.000Z",
    "open",
    "Europe/Warsaw",
  ],
  [
    "has repeated hours, the second time",
    small,
    "2026-10-25T01:15:00.000Z",
    "open",
    "Europe/Warsaw",
  ],
  ["has an empty list of hours", hours(), "2026-11-21T12:00:00.000Z", "open"],
] as const satisfies Case[];

export const cases: readonly Case[] = [...dates, ...timeframes, ...weekdays, ...dailyHours];
