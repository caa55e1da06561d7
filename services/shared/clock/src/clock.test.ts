import { setTimeout as sleep } from "node:timers/promises";

import { afterEach, expect, it, vi } from "vitest";

import { adjustClock, currentTime, untilSharedTick } from "./clock.ts";

const HOUR = 3_600_000;

afterEach(async () => {
  vi.useRealTimers();
  await adjustClock(() => Promise.resolve(Date.now()));
});

const expectNear = (time: number, expected: number): void =>
  expect(Math.abs(time - expected)).toBeLessThan(40);

it("is the time of the machine at first, in whole milliseconds", () => {
  expectNear(currentTime(), Date.now());
  expect(Number.isInteger(currentTime())).toBe(true);
});

it.each([HOUR, -HOUR, 60, -60])("adopts a clock that differs by %i ms", async (difference) => {
  await adjustClock(() => Promise.resolve(Date.now() + difference));
  expectNear(currentTime(), Date.now() + difference);
});

it("ignores a difference that the network may explain", async () => {
  await adjustClock(async () => {
    await sleep(400);
    return Date.now();
  });
  expectNear(currentTime(), Date.now());
  await adjustClock(() => Promise.resolve(Date.now() + 30));
  expectNear(currentTime(), Date.now());
});

it("counts half of the time that a reading takes", async () => {
  await adjustClock(async () => {
    await sleep(100);
    const time = Date.now() + HOUR;
    await sleep(100);
    return time;
  });
  expectNear(currentTime(), Date.now() + HOUR);
});

it("ignores changes of the clock of the machine", () => {
  const before = currentTime();
  vi.useFakeTimers({ toFake: ["Date"], now: before - 2_000 });
  expect(currentTime()).toBeGreaterThanOrEqual(before);
  vi.setSystemTime(before + HOUR);
  expectNear(currentTime(), before);
});

it("keeps its time while the other clock cannot be read", async () => {
  await adjustClock(() => Promise.resolve(Date.now() + HOUR));
  await expect(adjustClock(() => Promise.reject(new Error("no database")))).rejects.toThrow(
    "no database",
  );
  expectNear(currentTime(), Date.now() + HOUR);
});

it("runs repeated work at shared times, also when a timer fires early or late", () => {
  expect([3_000, 2_999, 3_040].map((now) => now + untilSharedTick(1_000, now))).toEqual([
    4_000, 4_000, 4_000,
  ]);
  expect(untilSharedTick(1_000, 3_501)).toBe(1_499);
});
