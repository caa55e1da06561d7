import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { parseDuration } from "./duration.ts";
import { addDuration, instantAt, formatInstant, isTimeZone, localTimeAt } from "./time-zone.ts";

const hour = 3_600_000;

describe("isTimeZone", () => {
  test.each([
    "UTC",
    "GMT",
    "Europe/Warsaw",
    "Asia/Kolkata",
    "Etc/GMT-2",
    "GMT+2",
    "UTC-03:30",
    "+05:45",
  ])("accepts %s", (timeZone) => {
    expect(isTimeZone(timeZone)).toBe(true);
  });

  test.each(["", "Mars/Olympus", "GMT+99", "+25:00", "GMT+2:7", "Europe/Warsaw; --"])(
    "rejects %j",
    (timeZone) => {
      expect(isTimeZone(timeZone)).toBe(false);
    },
  );
});

describe("localTimeAt", () => {
  test.each([
    ["UTC", "2026-11-22T23:30:00.123Z", 0, "23:30:00.123"],
    ["Europe/Warsaw", "2026-11-22T23:30:00.000Z", 1, "00:30:00.000"],
    ["Europe/Warsaw", "2026-07-05T22:00:00.000Z", 1, "00:00:00.000"],
    ["Europe/Warsaw", "2026-07-05T21:59:59.999Z", 0, "23:59:59.999"],
    ["Asia/Kolkata", "2026-11-22T18:30:00.000Z", 1, "00:00:00.000"],
    ["Asia/Kathmandu", "2026-11-22T18:15:00.000Z", 1, "00:00:00.000"],
    ["Australia/Lord_Howe", "2026-06-06T13:30:00.000Z", 0, "00:00:00.000"],
    ["America/St_Johns", "2026-01-01T03:29:59.999Z", 3, "23:59:59.999"],
    ["Pacific/Kiritimati", "2026-01-01T10:00:00.000Z", 5, "00:00:00.000"],
    ["GMT+2", "2026-01-01T22:00:00.000Z", 5, "00:00:00.000"],
    ["UTC-03:30", "2026-01-01T03:29:00.000Z", 3, "23:59:00.000"],
    ["Europe/Paris", "1900-01-01T00:00:00.000Z", 1, "00:09:21.000"],
  ])("converts in %s at %s to weekday %i, %s", (timeZone, at, weekday, time) => {
    const local = localTimeAt(timeZone, Date.parse(at));
    expect(local.weekday).toBe(weekday);
    expect(new Date(local.msOfDay).toISOString().slice(11, 23)).toBe(time);
  });

  test("throws for an unknown time zone", () => {
    expect(() => localTimeAt("Mars/Olympus", 0)).toThrow(RangeError);
  });
});

describe("instantAt", () => {
  test.each([
    ["a time in winter", "2026-01-10", 12, "2026-01-10T11:00:00.000Z"],
    ["a time in summer", "2026-07-10", 12, "2026-07-10T10:00:00.000Z"],
    ["the last minute before the spring gap", "2026-03-29", 1, "2026-03-29T00:00:00.000Z"],
    ["a time inside the spring gap, an hour later", "2026-03-29", 2.5, "2026-03-29T01:30:00.000Z"],
    ["the first time after the spring gap", "2026-03-29", 3, "2026-03-29T01:00:00.000Z"],
    ["the first of two repeated hours", "2026-10-25", 2.5, "2026-10-25T00:30:00.000Z"],
    ["the first time after the repeated hour", "2026-10-25", 3, "2026-10-25T02:00:00.000Z"],
  ])("converts %s in Warsaw", (_name, day, hours, at) => {
    const epochDay = Date.parse(`${day}T00:00:00Z`) / (24 * hour);
    expect(new Date(instantAt("Europe/Warsaw", epochDay, hours * hour)).toISOString()).toBe(at);
  });

  test("is the inverse of localTimeAt wherever local times are unique", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("UTC", "Asia/Kolkata", "GMT+2", "Pacific/Apia", "Africa/Lagos"),
        fc.integer({ min: Date.UTC(2013, 0), max: Date.UTC(2100, 0) }),
        (timeZone, instant) => {
          fc.pre(timeZone !== "Pacific/Apia" || instant > Date.UTC(2021, 9));
          const local = localTimeAt(timeZone, instant);
          expect(instantAt(timeZone, local.epochDay, local.msOfDay)).toBe(instant);
        },
      ),
    );
  });
});

describe("addDuration", () => {
  test.each([
    [
      "keeps the time of day over the change to summer time",
      "2026-03-28T11:00:00Z",
      "P1D",
      1,
      "2026-03-29T10:00:00.000Z",
    ],
    ["adds hours as elapsed time", "2026-03-28T11:00:00Z", "PT24H", 1, "2026-03-29T11:00:00.000Z"],
    ["adds days before hours", "2026-03-28T11:00:00Z", "P1DT1H", 1, "2026-03-29T11:00:00.000Z"],
    [
      "ends a month early rather than late",
      "2026-01-31T11:00:00Z",
      "P1M",
      1,
      "2026-02-28T11:00:00.000Z",
    ],
    [
      "returns to the 31st after a short month",
      "2026-01-31T11:00:00Z",
      "P1M",
      2,
      "2026-03-31T10:00:00.000Z",
    ],
    ["counts a leap day", "2028-01-31T11:00:00Z", "P1M", 1, "2028-02-29T11:00:00.000Z"],
    [
      "turns a leap day into the 28th",
      "2028-02-29T11:00:00Z",
      "P1Y",
      1,
      "2029-02-28T11:00:00.000Z",
    ],
    [
      "finds the next leap day after four years",
      "2028-02-29T11:00:00Z",
      "P1Y",
      4,
      "2032-02-29T11:00:00.000Z",
    ],
    ["crosses the end of a year", "2026-11-30T11:00:00Z", "P3M", 1, "2027-02-28T11:00:00.000Z"],
    [
      "adds nothing for a factor of zero",
      "2026-10-25T01:30:00Z",
      "P1D",
      0,
      "2026-10-25T01:30:00.000Z",
    ],
  ])("%s", (_name, ...row) => {
    const [from, text, times, to] = row;
    const duration = parseDuration(text);
    if (duration === undefined) throw new Error(`cannot read ${text}`);
    const sum = addDuration("Europe/Warsaw", Date.parse(from), duration, times);
    expect(new Date(sum).toISOString()).toBe(to);
  });
});

test("formats an instant as the API does", () => {
  fc.assert(
    fc.property(fc.integer({ min: Date.parse("0001-01-01"), max: 8e13 }), (instant) => {
      expect(formatInstant(instant)).toBe(new Date(instant).toISOString());
    }),
  );
});
