import { expect, test } from "vitest";

import { createBulkPause } from "./bulk-pause.ts";
import { WEBHOOK_GROUP } from "./subscription.ts";

const measuring = (lag: () => number | Promise<number>) => async () =>
  new Map([[WEBHOOK_GROUP, await lag()]]);

test("pauses a slice while events are read late, for five seconds at most", async () => {
  let seconds = 20;
  const pauseAfter = createBulkPause({ delays: measuring(() => seconds) });
  expect(await pauseAfter(0)).toBe(1_000);
  expect(await pauseAfter(3_999)).toBe(1_000);
  expect(await pauseAfter(4_700)).toBe(300);
  expect(await pauseAfter(5_000)).toBe(0);
  seconds = 3;
  expect(await pauseAfter(0)).toBe(0);
});

test("pauses a slice while Kafka reports many unhandled events", async () => {
  let events = 5_000;
  const pauseAfter = createBulkPause({ backlogs: measuring(() => events) });
  expect(await pauseAfter(0)).toBe(1_000);
  events = 10;
  expect(await pauseAfter(0)).toBe(0);
});

test("does not pause, after a second, while the broker does not respond", async () => {
  const startedAt = performance.now();
  const pauseAfter = createBulkPause({ delays: measuring(() => new Promise(() => {})) });
  expect(await pauseAfter(0)).toBe(0);
  expect(performance.now() - startedAt).toBeLessThan(3_000);
});
