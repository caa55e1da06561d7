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
])("the time zone %s is passed on as %s", (given, canonical) => {
  expect(canonicalTimeZone(given)).toBe(canonical);
  expect(() => new Intl.DateTimeFormat("en", { timeZone: canonical })).not.toThrow();
});

test.each(["Europe/Warsaw", "UTC", "GMT+1", "UTC-03:30"])("a project may be in %s", (timeZone) => {
  expect(isProjectTimeZone(timeZone)).toBe(true);
});

test.each(["+01:00", "-3", "", "Mars/Olympus"])("no project is in %j", (timeZone) => {
  expect(isProjectTimeZone(timeZone)).toBe(false);
});
