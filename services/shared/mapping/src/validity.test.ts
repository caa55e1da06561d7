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
  test("survive the round trip through a message", () => {
    expect(validityFromProto(validityToProto(validity))).toEqual(validity);
  });
});

test("sorts weekdays without repetitions, and treats none as no limit", () => {
  expect(validityFromProto({ validityDayOfWeek: [5, 1, 5] }).daysOfWeek).toEqual([1, 5]);
  expect(validityFromProto({ validityDayOfWeek: [] }).daysOfWeek).toBeNull();
});

test("updates the fields that the mask names, also to null, and no others", () => {
  const sent = new Set(["start_date", "validity_hours"]);
  expect(mergeValidityUpdate(all, validityToProto({ ...none, startDate: 5 }), sent)).toEqual({
    ...all,
    startDate: 5,
    hours: null,
  });
});

test.each([0, -1, -1_000, 1_763_726_400_123])(
  "converts the instant %d to a timestamp and back",
  (instant) => {
    const timestamp = instantToProto(instant);
    expect(timestamp.nanos).toBeGreaterThanOrEqual(0);
    expect(instantFromProto(timestamp)).toBe(instant);
  },
);
