import { expect, test } from "vitest";

import { canonicalTimeZone, isProjectTimeZone } from "./project.ts";

test.each([
  ["GMT+2", "+02:00"],
  ["GMT-3:30", "-03:30"],
  ["UTC+05:45", "+05:45"],
  ["gmt+0530", "+05:30"],
  ["Europe/Warsaw", "Europe/Warsaw"],
  ["GMT", "GMT"],
  ["UTC", "UTC"],
])("normalizes the time zone %s to %s", (given, canonical) => {
  expect(canonicalTimeZone(given)).toBe(canonical);
  expect(() => new Intl.DateTimeFormat("en", { timeZone: canonical })).not.toThrow();
});

test.each(["Europe/Warsaw", "UTC", "GMT+1", "UTC-03:30"])(
  "accepts the time zone %s",
  (timeZone) => {
    expect(isProjectTimeZone(timeZone)).toBe(true);
  },
);

test.each(["+01:00", "-3", "", "Mars/Olympus"])("rejects the time zone %j", (timeZone) => {
  expect(isProjectTimeZone(timeZone)).toBe(false);
});
