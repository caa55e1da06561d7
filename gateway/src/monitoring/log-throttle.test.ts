import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { createLogThrottle } from "./log-throttle.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const recordedLog = () => {
  const logged: [number, string][] = [];
  return {
    logged,
    throttle: createLogThrottle<string>((count, latest) => logged.push([count, latest])),
  };
};

test("logs the first item immediately, and later ones once per second with count and latest", () => {
  const { logged, throttle } = recordedLog();
  for (let at = 0; at < 4_456; at += 1) throttle.add(`failure ${at}`);
  expect(logged).toEqual([[1, "failure 0"]]);
  vi.advanceTimersByTime(1_000);
  expect(logged.slice(1)).toEqual([[4_455, "failure 4455"]]);
  throttle.add("within the next second");
  expect(logged).toHaveLength(2);
  vi.advanceTimersByTime(1_000);
  expect(logged.slice(2)).toEqual([[1, "within the next second"]]);
});

test("logs immediately again after a quiet second", () => {
  const { logged, throttle } = recordedLog();
  throttle.add("first");
  vi.advanceTimersByTime(1_000);
  throttle.add("later");
  expect(logged).toEqual([
    [1, "first"],
    [1, "later"],
  ]);
});

test("logs pending items when disposed, and nothing afterwards", () => {
  const { logged, throttle } = recordedLog();
  for (const failure of ["first", "second", "third"]) throttle.add(failure);
  throttle[Symbol.dispose]();
  expect(logged.slice(1)).toEqual([[2, "third"]]);
  expect(vi.getTimerCount()).toBe(0);
});
