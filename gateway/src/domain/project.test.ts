import { expect, test } from "vitest";

import { canonicalTimeZone } from "./project.ts";

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
