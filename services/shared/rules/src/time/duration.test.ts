import { describe, expect, test } from "vitest";

import { parseDuration } from "./duration.ts";

const minute = 60_000;
const hour = 60 * minute;

describe("parseDuration", () => {
  test.each([
    ["P1D", { months: 0, days: 1, ms: 0 }],
    ["P2W", { months: 0, days: 14, ms: 0 }],
    ["P1Y6M", { months: 18, days: 0, ms: 0 }],
    ["P1M", { months: 1, days: 0, ms: 0 }],
    ["PT1M", { months: 0, days: 0, ms: minute }],
    ["P1DT12H", { months: 0, days: 1, ms: 12 * hour }],
    ["PT1H30M15S", { months: 0, days: 0, ms: 90 * minute + 15_000 }],
    ["PT0.5S", { months: 0, days: 0, ms: 500 }],
    ["PT24H", { months: 0, days: 0, ms: 24 * hour }],
    ["P0DT1S", { months: 0, days: 0, ms: 1000 }],
    ["P366000D", { months: 0, days: 366_000, ms: 0 }],
  ])("reads %s", (text, duration) => {
    expect(parseDuration(text)).toEqual(duration);
  });

  test.each([
    "",
    "P",
    "PT",
    "P1DT",
    "P0D",
    "PT0S",
    "1D",
    "p1d",
    "P-1D",
    "-P1D",
    "P1H",
    "P1.5D",
    "PT1,5S",
    "P1D ",
    "P1D\n",
    "P1S1M",
    "P1001Y",
    "P900Y40000D",
    "P366000DT1S",
    "P999999999Y",
    "P99999999999999999999D",
  ])("rejects %j", (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });
});
