import { expect, test } from "vitest";

import { DEFAULT_TIER_POLICY, parseTierPolicy } from "./tier-policy.ts";

const byPeriod = (fields: object = {}) => ({
  qualification_type: "POINTS_IN_PERIOD",
  qualification_period: "MONTH",
  ...fields,
});
const custom = (fields: object = {}) => ({
  expiration_date: { type: "CUSTOM", extend: "P3M", ...fields },
});

test.each([
  [null, DEFAULT_TIER_POLICY],
  [{}, DEFAULT_TIER_POLICY],
  [
    byPeriod({ start_date: { type: "NEXT_PERIOD" } }),
    {
      qualification: "POINTS_IN_PERIOD",
      period: "MONTH",
      start: "NEXT_PERIOD",
      expiration: { type: "END_OF_PERIOD", extend: null, rounding: null },
    },
  ],
  [
    custom({ rounding: { type: "CUSTOM", strategy: "END", unit: "MONTH", value: 0 } }),
    {
      ...DEFAULT_TIER_POLICY,
      expiration: {
        type: "CUSTOM",
        extend: { months: 3, days: 0, ms: 0 },
        rounding: { to: { month: 1 }, strategy: "END" },
      },
    },
  ],
])("reads the policy %j", (json, policy) => {
  expect(parseTierPolicy(json)).toEqual({ policy });
});

test.each([
  [{ qualification_type: "LUCK" }, "qualification_type must be one of: BALANCE, POINTS_IN_PERIOD"],
  [
    { qualification_type: "POINTS_IN_PERIOD" },
    "qualification_period is required for POINTS_IN_PERIOD",
  ],
  [{ start_date: { type: "NEXT_PERIOD" } }, "start_date.type NEXT_PERIOD needs POINTS_IN_PERIOD"],
  [{ start_date: "IMMEDIATE" }, "start_date must be object"],
  [
    byPeriod({ expiration_date: { type: "BALANCE_DROP" } }),
    "expiration_date.type BALANCE_DROP needs BALANCE",
  ],
  [
    { expiration_date: { type: "END_OF_PERIOD" } },
    "expiration_date.type END_OF_PERIOD needs POINTS_IN_PERIOD",
  ],
  [{ expiration_date: { type: "CUSTOM" } }, "expiration_date.extend is required"],
  [custom({ extend: "PT1H" }), "expiration_date.extend must be an ISO 8601 duration of whole days"],
  [
    custom({ rounding: { type: "WEEK" } }),
    "expiration_date.rounding.type must be one of: MONTH, QUARTER, HALF_YEAR, YEAR, CUSTOM",
  ],
  [
    custom({ rounding: { type: "CUSTOM", value: "" } }),
    "expiration_date.rounding.value must be an integer from 0 to 11",
  ],
  [
    custom({ rounding: { type: "CUSTOM", value: 12 } }),
    "expiration_date.rounding.value must be an integer from 0 to 11",
  ],
])("rejects the policy %j", (json, violation) => {
  expect(parseTierPolicy(json)).toEqual({
    violation: `Property .loyalty_tiers_expiration.${violation}`,
  });
});
