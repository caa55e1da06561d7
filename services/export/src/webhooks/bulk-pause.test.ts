import type { EventBus } from "@scrip/events";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { createBulkPause } from "./bulk-pause.ts";
import { WEBHOOK_GROUP } from "./subscription.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const busWith = (seconds: () => number | Promise<number>): Pick<EventBus, "delays"> => ({
  delays: async () => new Map([[WEBHOOK_GROUP, await seconds()]]),
});

test("pauses a job while events are read late, five seconds at most for each slice", async () => {
  let seconds = 0;
  const pauseOf = createBulkPause(busWith(() => seconds));
  expect(await pauseOf("job_1")).toBe(0);
  seconds = 20;
  for (let slice = 0; slice < 2; slice += 1) {
    for (let waited = 0; waited < 5_000; waited += 1_000) {
      expect(await pauseOf("job_1")).toBe(1_000);
      vi.advanceTimersByTime(1_000);
    }
    expect(await pauseOf("job_1")).toBe(0);
  }
  expect(await pauseOf("job_1")).toBe(1_000);
  expect(await pauseOf("job_2")).toBe(1_000);
  seconds = 0;
  expect(await pauseOf("job_1")).toBe(0);
});

test("pauses no job while the broker is away", async () => {
  const away = createBulkPause(busWith(() => Promise.reject(new Error("no broker"))));
  expect(await away("job_1")).toBe(0);
  const silent = createBulkPause(busWith(() => new Promise(() => {})));
  const pause = silent("job_1");
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await pause).toBe(0);
});
