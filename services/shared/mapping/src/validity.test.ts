import type { Validity } from "@scrip/rules";
import { describe, expect, test } from "vitest";

import { instantFromProto, instantToProto } from "./instant.ts";
import { mergeValidityUpdate, validityToProto, validityFromProto } from "./validity.ts";

const none: Validity = {
  startDate: null,
  expirationDate: null,
  timeframe: null,
  daysOfWeek: null,
  hours: null,
};
const all: Validity = {
  startDate: -1,
  expirationDate: Date.parse("2026-11-21T12:00:00.123Z"),
  timeframe: { interval: "P2D", duration: "P1D" },
  daysOfWeek: [0, 6],
  hours: { daily: [{ startTime: "08:00", expirationTime: "10:00", daysOfWeek: [1] }] },
};

describe.each([
  ["no limits", none],
  ["all limits", all],
])("%s", (_name, validity) => {
  test("come back from a message as they were", () => {
    expect(validityFromProto(validityToProto(validity))).toEqual(validity);
  });
});

test("weekdays are sorted, each once, and none limits nothing", () => {
  expect(validityFromProto({ validityDayOfWeek: [5, 1, 5] }).daysOfWeek).toEqual([1, 5]);
  expect(validityFromProto({ validityDayOfWeek: [] }).daysOfWeek).toBeNull();
});

test("an update takes what was sent, also nothing, and leaves the rest", () => {
  const sent = new Set(["start_date", "validity_hours"]);
  expect(mergeValidityUpdate(all, validityToProto({ ...none, startDate: 5 }), sent)).toEqual({
    ...all,
    startDate: 5,
    hours: null,
  });
});

test.each([0, -1, -1_000, 1_763_726_400_123])("the instant %d is a timestamp", (instant) => {
  const timestamp = instantToProto(instant);
  expect(timestamp.nanos).toBeGreaterThanOrEqual(0);
  expect(instantFromProto(timestamp)).toBe(instant);
});
