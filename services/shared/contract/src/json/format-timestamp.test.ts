import fc from "fast-check";
import { expect, test } from "vitest";

import { formatTimestamp } from "./format-timestamp.ts";

test("formats every time as Date.toISOString does", () => {
  const dates = fc.date({
    noInvalidDate: true,
    min: new Date("0001-01-01T00:00:00Z"),
    max: new Date("9999-12-31T23:59:59.999Z"),
  });
  fc.assert(
    fc.property(dates, fc.integer({ min: -100_000_000, max: 100_000_000 }), (date, offset) => {
      expect(formatTimestamp(date.getTime())).toBe(date.toISOString());
      // Another time of the same or the next day uses the cached text of the first one.
      const near = Math.min(
        Math.max(date.getTime() + offset, -62_135_596_800_000),
        253_402_300_799_999,
      );
      expect(formatTimestamp(near)).toBe(new Date(near).toISOString());
    }),
    { numRuns: 5000 },
  );
});
