import { currentTime } from "@scrip/clock";
import fc from "fast-check";
import { expect, test } from "vitest";

import { createdAtMs, newId, newRequestId, timePart } from "./index.ts";
import { createOpaqueSource } from "./opaque.ts";

const HALF = 2 ** 23;

/** A clock that returns one time after the other and then stays at the last. */
function clockOf(times: readonly number[]): () => number {
  let at = 0;
  return () => times[Math.min(at++, times.length - 1)] ?? 0;
}

test("creates ids of a prefix and eighteen lower-case hex digits", () => {
  expect(newId("camp")).toMatch(/^camp_[0-9a-f]{18}$/);
  expect(newRequestId()).toMatch(/^v-[0-9a-f]{18}$/);
});

test("reads the creation time from an id, and undefined from other text", () => {
  const before = currentTime();
  const created = createdAtMs(newId("v")) ?? 0;
  expect(created).toBeGreaterThanOrEqual(before);
  expect(created).toBeLessThanOrEqual(before + 60_000);
  expect(createdAtMs("v_019aa8f3c2d1000000")).toBe(0x019aa8f3c2d1);
  expect(createdAtMs("v_1")).toBeUndefined();
  expect(createdAtMs("SUMMER")).toBeUndefined();
});

test("formats a time as the ids of that millisecond begin", () => {
  expect(timePart(0x019aa8f3c2d1)).toBe("019aa8f3c2d1");
  expect(timePart(5)).toBe("000000000005");
  const id = newId("r");
  expect(id.startsWith(`r_${timePart(createdAtMs(id) ?? 0)}`)).toBe(true);
});

test("creates ascending ids for any clock and any start of the counter", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 2 ** 48 - 2 }), { minLength: 2, maxLength: 50 }),
      fc.array(fc.integer({ min: 0, max: HALF - 1 }), { minLength: 1, maxLength: 5 }),
      (times, starts) => {
        const next = createOpaqueSource({ now: clockOf(times), start: clockOf(starts) });
        const created = times.map(() => next());
        expect(created).toEqual([...new Set(created)].toSorted());
        for (const id of created) expect(id).toMatch(/^[0-9a-f]{18}$/);
      },
    ),
  );
});

test("starts with twelve digits of the creation time in milliseconds", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 48 - 1 }), (ms) => {
      expect(Number.parseInt(createOpaqueSource({ now: () => ms })().slice(0, 12), 16)).toBe(ms);
    }),
  );
});

test("advances to the next millisecond when a counter is exhausted, instead of wrapping", () => {
  const next = createOpaqueSource({ now: () => 5, start: clockOf([2 ** 24 - 2, 7]) });
  expect([next(), next(), next()]).toEqual([
    "000000000005fffffe",
    "000000000005ffffff",
    "000000000006000007",
  ]);
});

test("creates a hundred thousand different ids in order", () => {
  const created = Array.from({ length: 100_000 }, () => newId("v"));
  expect(new Set(created).size).toBe(created.length);
  expect(created).toEqual(created.toSorted());
});

test("rarely creates equal ids in two processes within one millisecond", () => {
  const firsts = Array.from({ length: 1_000 }, () => createOpaqueSource({ now: () => 1 })());
  // 1,000 draws from eight million collide in 0.06 pairs on average, so five mean a broken source.
  expect(new Set(firsts).size).toBeGreaterThan(995);
});
