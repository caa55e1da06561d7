import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { createLogThrottle } from "./log-throttle.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const telling = () => {
  const told: [number, string][] = [];
  return { told, digest: createLogThrottle<string>((count, latest) => told.push([count, latest])) };
};

test("logs the first item immediately, and later ones once per second with count and latest", () => {
  const { told, digest } = telling();
  for (let at = 0; at < 4_456; at += 1) digest.add(`failure ${at}`);
  expect(told).toEqual([[1, "failure 0"]]);
  vi.advanceTimersByTime(1_000);
  expect(told.slice(1)).toEqual([[4_455, "failure 4455"]]);
  digest.add("within the next second");
  expect(told).toHaveLength(2);
  vi.advanceTimersByTime(1_000);
  expect(told.slice(2)).toEqual([[1, "within the next second"]]);
});

test("logs immediately again after a quiet second", () => {
  const { told, digest } = telling();
  digest.add("first");
  vi.advanceTimersByTime(1_000);
  digest.add("later");
  expect(told).toEqual([
    [1, "first"],
    [1, "later"],
  ]);
});

test("logs pending items when disposed, and nothing afterwards", () => {
  const { told, digest } = telling();
  for (const failure of ["first", "second", "third"]) digest.add(failure);
  digest[Symbol.dispose]();
  expect(told.slice(1)).toEqual([[2, "third"]]);
  expect(vi.getTimerCount()).toBe(0);
});
