import { afterEach, beforeEach, expect, test } from "vitest";

import { parseTime } from "./parse-time.ts";

const { TZ } = process.env;
beforeEach(() => void (process.env["TZ"] = "America/St_Johns"));
afterEach(() => {
  if (TZ === undefined) delete process.env["TZ"];
  else process.env["TZ"] = TZ;
});

test.each([
  ["2030-01-31", "2030-01-31T00:00:00.000Z"],
  ["2030-01-31T12:00", "2030-01-31T12:00:00.000Z"],
  ["2030-01-31T12:00:05.25", "2030-01-31T12:00:05.250Z"],
  ["2030-01-31T12:00:00Z", "2030-01-31T12:00:00.000Z"],
  ["2028-02-29T23:00:00-03:30", "2028-03-01T02:30:00.000Z"],
])("reads %s in any time zone of the machine", (text, time) => {
  expect(parseTime(text)?.toISOString()).toBe(time);
});

test.each(["", "tomorrow", "31 January 2030", "2030-02-30T12:00:00Z", "2030-01-31T25:00Z", "2030"])(
  "rejects %j",
  (text) => {
    expect(parseTime(text)).toBeUndefined();
  },
);
