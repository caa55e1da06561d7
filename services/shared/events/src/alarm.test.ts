import { expect, test } from "vitest";

import { createAlarm } from "./alarm.ts";

test("ends the sleep on a ring", async () => {
  const alarm = createAlarm();
  const sleep = alarm.sleep(60_000);
  alarm.ring();
  await expect(sleep).resolves.toBeUndefined();
});

test("ends the next sleep immediately after earlier rings, and only that one", async () => {
  const alarm = createAlarm();
  alarm.ring();
  alarm.ring();
  await alarm.sleep(60_000);

  const startedAt = performance.now();
  await alarm.sleep(30);
  expect(performance.now() - startedAt).toBeGreaterThan(25);
});
