import { expect, test } from "vitest";

import { parseExpirationRules } from "./expiration-rules.ts";

test.each([
  [
    { period_type: "MONTH", period_value: 0 },
    { type: "MONTH", months: 0, rounding: null },
  ],
  [
    { period_type: "MONTH", period_value: "3", rounding_type: "END_OF_QUARTER" },
    { type: "MONTH", months: 3, rounding: { type: "END_OF_QUARTER" } },
  ],
  [
    { period_type: "MONTH", period_value: 2, rounding_type: "PARTICULAR_MONTH", rounding_value: 1 },
    { type: "MONTH", months: 2, rounding: { type: "PARTICULAR_MONTH", month: 1 } },
  ],
  [
    { period_type: "FIXED_DAY_OF_YEAR", fixed_month: 12, fixed_day: 31 },
    { type: "FIXED_DAY_OF_YEAR", month: 12, day: 31 },
  ],
])("parses %j", (json, rules) => {
  expect(parseExpirationRules(json)).toEqual({ rules });
});

test.each([
  [{}, "period_type"],
  [{ period_type: "WEEK" }, "period_type"],
  [{ period_type: "MONTH" }, "period_value"],
  [{ period_type: "MONTH", period_value: -1 }, "period_value"],
  [{ period_type: "MONTH", period_value: 1.5 }, "period_value"],
  [{ period_type: "MONTH", period_value: 1, rounding_type: "END_OF_WEEK" }, "rounding_type"],
  [{ period_type: "MONTH", period_value: 1, rounding_type: "PARTICULAR_MONTH" }, "rounding_value"],
  [
    { period_type: "MONTH", period_value: 1, rounding_type: "PARTICULAR_MONTH", rounding_value: 0 },
    "rounding_value",
  ],
  [{ period_type: "FIXED_DAY_OF_YEAR", fixed_day: 1 }, "fixed_month"],
  [{ period_type: "FIXED_DAY_OF_YEAR", fixed_month: 2, fixed_day: 32 }, "fixed_day"],
])("rejects %j and names %s", (json, field) => {
  expect(parseExpirationRules(json)).toEqual({
    violation: expect.stringContaining(`.expiration_rules.${field} must be`),
  });
});
