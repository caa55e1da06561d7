import { newId } from "@scrip/ids";
import fc from "fast-check";
import { expect, test } from "vitest";

import { activityId, isActivityId } from "./activity-id.ts";

const STEPS = ["cause", "points", "tier"] as const;
const NOW = 1_764_000_000_000;
const at = (createdAt: number, delay = 20) => ({ createdAt, occurredAt: createdAt + delay });
const cause = { step: "cause", index: 0 } as const;

test("ids sort by the time of activities, whatever the delay of their events", () => {
  const activity = fc.record({
    createdAt: fc.integer({ min: NOW, max: NOW + 1_000 }),
    delay: fc.integer({ min: -1_000_000, max: 1_000_000 }),
    step: fc.constantFrom(...STEPS),
    index: fc.nat(3),
  });
  fc.assert(
    fc.property(fc.array(activity), (activities) => {
      const ids = activities.map(({ createdAt, delay, step, index }) => ({
        createdAt,
        id: activityId({ eventId: newId("event"), ...at(createdAt, delay), step, index }),
      }));
      const byId = ids.toSorted((a, b) => (a.id < b.id ? -1 : 1));
      expect(byId.map(({ createdAt }) => createdAt)).toEqual(
        ids.map(({ createdAt }) => createdAt).toSorted((a, b) => a - b),
      );
      expect(ids.every(({ id }) => isActivityId(id))).toBe(true);
    }),
  );
});

test("ids of one time sort by step, then by event, then by position", () => {
  const ids = STEPS.flatMap((step) =>
    ["event_01a219dc4d1700000a", "event_01a219dc4d1700000b"].flatMap((eventId) =>
      [0, 1, 2].map((index) => activityId({ eventId, ...at(NOW), step, index })),
    ),
  );
  expect(ids.every((id) => /^evcus_[0-9a-f]{18}$/.test(id))).toBe(true);
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
});

test("ids sort by event while the clock of a sandbox stands still, in the past and in the future", () => {
  for (const delay of [-86_400_000, 86_400_000]) {
    const ids = STEPS.toReversed().map((step, ms) =>
      activityId({
        eventId: `event_01a219dc4d1${ms}00000a`,
        createdAt: NOW,
        occurredAt: NOW + delay + ms,
        step,
        index: 0,
      }),
    );
    expect(ids.toSorted()).toEqual(ids);
  }
});

test("an event has the same ids at each delivery, also with an id of another form", () => {
  const id = (eventId: string) => activityId({ eventId, ...at(NOW), ...cause });
  expect(id("e-1")).toBe(id("e-1"));
  expect(id("e-1")).not.toBe(id("e-2"));
});
