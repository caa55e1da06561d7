import { expect, test } from "vitest";

import { MAX_ATTEMPTS, progressOf, retryPauseMs } from "./job.ts";

test.each([
  ["ENQUEUED", 0n, 0n, null, 0],
  ["IN_PROGRESS", 5n, 0n, null, 0],
  ["IN_PROGRESS", 1n, 1n, 3n, 66],
  ["IN_PROGRESS", 2n, 1n, 3n, 99],
  ["IN_PROGRESS", 0n, 0n, 0n, 0],
  ["DONE", 0n, 0n, 0n, 100],
  ["FAILED", 1n, 0n, 2n, 50],
] as const)("%s with %d processed and %d failed of %s is %d %%", (...row) => {
  const [status, processed, failed, total, expected] = row;
  expect(progressOf({ status, processed, failed, total })).toBe(expected);
});

test("a job is retried for some minutes before it fails, at least once a minute", () => {
  const pauses = Array.from({ length: MAX_ATTEMPTS - 1 }, (_, index) => retryPauseMs(index + 1));
  const minutes = pauses.reduce((sum, pause) => sum + pause, 0) / 60_000;
  expect(minutes).toBeGreaterThan(4);
  expect(minutes).toBeLessThan(10);
  expect(Math.max(...pauses)).toBe(60_000);
});
