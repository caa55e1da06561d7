import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { startOfNextPeriod, startOfPeriod } from "../time/period.ts";
import { evaluateValidity } from "./evaluate-validity.ts";
import { nextOpening } from "./next-opening.ts";
import type { Validity } from "./validity.ts";

const unlimited: Validity = {
  startDate: null,
  expirationDate: null,
  timeframe: null,
  daysOfWeek: null,
  hours: null,
};
const at = (text: string) => Date.parse(text);
const timeZone = "Europe/Warsaw";

type Scenario = readonly [what: string, own: Partial<Validity>, now: string, opens: string | null];

const cases: readonly Scenario[] = [
  ["open now", {}, "2026-11-21T11:00:00Z", "2026-11-21T11:00:00.000Z"],
  [
    "a start date",
    { startDate: at("2026-12-01") },
    "2026-11-21T11:00:00Z",
    "2026-12-01T00:00:00.000Z",
  ],
  ["ended", { expirationDate: at("2026-11-01") }, "2026-11-21T11:00:00Z", null],
  ["the next weekday", { daysOfWeek: [1] }, "2026-11-21T11:00:00Z", "2026-11-22T23:00:00.000Z"],
  [
    "a weekday after the end",
    { daysOfWeek: [1], expirationDate: at("2026-11-22T20:00:00Z") },
    "2026-11-21T11:00:00Z",
    null,
  ],
  [
    "the next window",
    { startDate: at("2026-03-01"), timeframe: { interval: "P2D", duration: "P1D" } },
    "2026-03-02T10:00:00Z",
    "2026-03-03T00:00:00.000Z",
  ],
  [
    "a window on a weekday",
    {
      startDate: at("2026-03-01"),
      timeframe: { interval: "P2D", duration: "PT1H" },
      daysOfWeek: [1],
    },
    "2026-03-02T10:00:00Z",
    "2026-03-09T00:00:00.000Z",
  ],
  [
    "the hours of today",
    { hours: { daily: [{ startTime: "18:00", expirationTime: "20:00", daysOfWeek: [] }] } },
    "2026-11-21T11:00:00Z",
    "2026-11-21T17:00:00.000Z",
  ],
  [
    "the hours of tomorrow",
    { hours: { daily: [{ startTime: "10:00", expirationTime: "11:00", daysOfWeek: [] }] } },
    "2026-11-21T11:00:00Z",
    "2026-11-22T09:00:00.000Z",
  ],
  [
    "the hours of a weekday",
    { hours: { daily: [{ startTime: "10:00", expirationTime: "12:00", daysOfWeek: [6] }] } },
    "2026-11-21T11:00:00.001Z",
    "2026-11-28T09:00:00.000Z",
  ],
  [
    "hours that the clocks skip",
    { hours: { daily: [{ startTime: "02:30", expirationTime: "03:30", daysOfWeek: [] }] } },
    "2026-03-28T23:30:00Z",
    "2026-03-29T01:00:00.000Z",
  ],
  [
    "hours that occur twice",
    { hours: { daily: [{ startTime: "02:30", expirationTime: "02:45", daysOfWeek: [] }] } },
    "2026-10-25T00:50:00Z",
    "2026-10-25T01:30:00.000Z",
  ],
];

describe("limits open next", () => {
  test.each(cases)("%s", (_what, limits, now, opens) => {
    const opening = nextOpening({ ...unlimited, ...limits }, null, { now: at(now), timeZone });
    expect(opening === null ? null : new Date(opening).toISOString()).toBe(opens);
  });

  test("at the first instant at which they are open", () => {
    const weekdays = fc.array(fc.integer({ min: 0, max: 6 }), { maxLength: 2 });
    const anyValidity = fc.record({
      startDate: fc.option(fc.integer({ min: -5, max: 40 }).map((hours) => day + hours * hour)),
      expirationDate: fc.option(
        fc.integer({ min: 0, max: 300 }).map((hours) => day + hours * hour),
      ),
      daysOfWeek: fc.option(weekdays),
      hours: fc.option(
        fc
          .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 1, max: 23 }), weekdays)
          .map(([from, length, daysOfWeek]) => ({
            daily: [
              { startTime: hhmm(from), expirationTime: hhmm((from + length) % 24), daysOfWeek },
            ],
          })),
      ),
      timeframe: fc.option(
        fc.constantFrom(
          { interval: "P2D", duration: "PT20H" },
          { interval: "PT5H", duration: "PT1H" },
          { interval: "P1D", duration: "PT1H" },
        ),
      ),
    });
    fc.assert(
      fc.property(anyValidity, fc.option(anyValidity), fc.nat(72), (own, parent, hours) => {
        const time = { now: day + hours * hour + 1, timeZone };
        const opening = nextOpening(own, parent, time);
        const opensAt = (now: number) =>
          evaluateValidity(own, parent, { now, timeZone }) === "open";
        const later = Array.from({ length: 24 * 8 }, (_, n) => time.now + n * hour);
        if (opening === null) {
          expect(later.filter(opensAt)).toEqual([]);
          return;
        }
        expect(opensAt(opening)).toBe(true);
        expect(opening === time.now || !opensAt(opening - 1)).toBe(true);
        expect(later.filter((now) => now < opening && opensAt(now))).toEqual([]);
      }),
    );
  });
});

const hour = 3_600_000;
// The clocks of Warsaw change in the week after it.
const day = at("2026-10-23T00:00:00Z");
const hhmm = (hours: number) => `${String(hours).padStart(2, "0")}:00`;

describe("a period of the calendar", () => {
  test.each([
    ["day", "2026-10-25T12:00:00Z", "2026-10-24T22:00:00.000Z", "2026-10-25T23:00:00.000Z"],
    ["week", "2026-11-22T22:59:00Z", "2026-11-15T23:00:00.000Z", "2026-11-22T23:00:00.000Z"],
    ["week", "2026-11-22T23:00:00Z", "2026-11-22T23:00:00.000Z", "2026-11-29T23:00:00.000Z"],
    ["month", "2026-01-31T23:30:00Z", "2026-01-31T23:00:00.000Z", "2026-02-28T23:00:00.000Z"],
    ["month", "2026-11-30T22:00:00Z", "2026-10-31T23:00:00.000Z", "2026-11-30T23:00:00.000Z"],
  ] as const)("of a %s at %s", (period, now, start, next) => {
    const time = { now: at(now), timeZone };
    expect(new Date(startOfPeriod(period, time)).toISOString()).toBe(start);
    expect(new Date(startOfNextPeriod(period, time)).toISOString()).toBe(next);
  });

  test("starts a week on another first day", () => {
    const time = { now: at("2026-11-21T22:59:00Z"), timeZone, firstWeekday: 0 };
    expect(new Date(startOfPeriod("week", time)).toISOString()).toBe("2026-11-14T23:00:00.000Z");
    expect(new Date(startOfNextPeriod("week", time)).toISOString()).toBe(
      "2026-11-21T23:00:00.000Z",
    );
  });
});
