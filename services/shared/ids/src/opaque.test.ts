import fc from "fast-check";
import { expect, test } from "vitest";

import { createdAtMs, newId, requestId } from "./index.ts";
import { createOpaqueSource } from "./opaque.ts";

const HALF = 2 ** 23;

/** A clock that shows one time after the other and then stays at the last. */
function clockOf(times: readonly number[]): () => number {
  let at = 0;
  return () => times[Math.min(at++, times.length - 1)] ?? 0;
}

test("an id is its prefix and eighteen lower-case hex digits", () => {
  expect(newId("camp")).toMatch(/^camp_[0-9a-f]{18}$/);
  expect(requestId()).toMatch(/^v-[0-9a-f]{18}$/);
});

test("an id says when it was made, and what is no id says nothing", () => {
  const before = Date.now();
  const made = createdAtMs(newId("v")) ?? 0;
  expect(made).toBeGreaterThanOrEqual(before);
  expect(made).toBeLessThanOrEqual(before + 60_000);
  expect(createdAtMs("v_019aa8f3c2d1000000")).toBe(0x019aa8f3c2d1);
  expect(createdAtMs("v_1")).toBeUndefined();
  expect(createdAtMs("SUMMER")).toBeUndefined();
});

test("ids grow with every call, whatever the clock does and wherever the counter starts", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 2 ** 48 - 2 }), { minLength: 2, maxLength: 50 }),
      fc.array(fc.integer({ min: 0, max: HALF - 1 }), { minLength: 1, maxLength: 5 }),
      (times, starts) => {
        const next = createOpaqueSource({ now: clockOf(times), start: clockOf(starts) });
        const made = times.map(() => next());
        expect(made).toEqual([...new Set(made)].toSorted());
        for (const id of made) expect(id).toMatch(/^[0-9a-f]{18}$/);
      },
    ),
  );
});

test("the first twelve digits are the milliseconds of the creation", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 48 - 1 }), (ms) => {
      expect(Number.parseInt(createOpaqueSource({ now: () => ms })().slice(0, 12), 16)).toBe(ms);
    }),
  );
});

test("a counter that is used up borrows the next millisecond instead of wrapping", () => {
  const next = createOpaqueSource({ now: () => 5, start: clockOf([2 ** 24 - 2, 7]) });
  expect([next(), next(), next()]).toEqual([
    "000000000005fffffe",
    "000000000005ffffff",
    "000000000006000007",
  ]);
});

test("a hundred thousand ids of one process are all different and in order", () => {
  const made = Array.from({ length: 100_000 }, () => newId("v"));
  expect(new Set(made).size).toBe(made.length);
  expect(made).toEqual(made.toSorted());
});

test("two processes that make an id in the same millisecond rarely make the same", () => {
  const firsts = Array.from({ length: 1_000 }, () => createOpaqueSource({ now: () => 1 })());
  // A birthday among 1,000 in eight million: on average 0.06 pairs, so five would be a broken dice.
  expect(new Set(firsts).size).toBeGreaterThan(995);
});
