import fc from "fast-check";
import { expect, test } from "vitest";

import { nanosBehindMs, parseTimestamp } from "./parse-timestamp.ts";

test("parses every formatted millisecond", () => {
  const dates = fc.date({
    noInvalidDate: true,
    min: new Date("0001-01-01T00:00:00Z"),
    max: new Date("9999-12-31T23:59:59.999Z"),
  });
  fc.assert(
    fc.property(dates, (date) => {
      expect(parseTimestamp(date.toISOString())).toBe(date.getTime());
    }),
  );
});

test.each([
  ["2026-02-28", "2026-02-28T00:00:00.000Z"],
  ["2026-02-28T10", "2026-02-28T10:00:00.000Z"],
  ["2026-02-28T10:15", "2026-02-28T10:15:00.000Z"],
  ["2026-02-28T10:15:30", "2026-02-28T10:15:30.000Z"],
  ["2026-02-28T10:15:30Z", "2026-02-28T10:15:30.000Z"],
  ["2026-02-28T10:15:30.5Z", "2026-02-28T10:15:30.500Z"],
  ["2026-02-28T10:15:30.123456789Z", "2026-02-28T10:15:30.123Z"],
  ["2026-02-28T10:15:30+02:00", "2026-02-28T08:15:30.000Z"],
  ["2026-02-28T10:15:30 02:00", "2026-02-28T08:15:30.000Z"],
  ["2026-02-28T10:15:30-0530", "2026-02-28T15:45:30.000Z"],
  ["2026-12-31T23:30:00-01", "2027-01-01T00:30:00.000Z"],
  ["2024-02-29", "2024-02-29T00:00:00.000Z"],
  ["0099-03-01", "0099-03-01T00:00:00.000Z"],
])("parses %s as %s", (text, iso) => {
  expect(new Date(parseTimestamp(text) ?? Number.NaN).toISOString()).toBe(iso);
});

test.each([
  "",
  "tomorrow",
  "2026-02-29",
  "2026-13-01",
  "2026-00-10",
  "2026-01-00",
  "2026-04-31",
  "2026-01-01T24:00",
  "2026-01-01T10:60",
  "2026-01-01T10:00:60Z",
  "2026-01-01T10:00:00+24:00",
  "0000-12-31",
  "0001-01-01T00:00:00+01:00",
  "9999-12-31T23:59:59-01:00",
  "+12026-01-01",
  "2026-1-1",
  "1780000000",
  "2026-01-01T10:00:00ZZ",
])("rejects %j", (text) => {
  expect(parseTimestamp(text)).toBeUndefined();
});

test.each([
  ["2026-02-28", 0],
  ["2026-02-28T10:15:30Z", 0],
  ["2026-02-28T10:15:30.5Z", 0],
  ["2026-02-28T10:15:30.123Z", 0],
  ["2026-02-28T10:15:30.1234Z", 400_000],
  ["2026-02-28T10:15:30.123000007Z", 7],
  ["2026-02-28T10:15:30.123456789+02:00", 456_789],
])("returns the nanoseconds behind the milliseconds of %s", (text, nanos) => {
  expect(nanosBehindMs(text)).toBe(nanos);
});
