import { setTimeout as pause } from "node:timers/promises";

import { expect, test } from "vitest";

import { createLimiter } from "./limiter.ts";

test("runs at most as many tasks as it has slots, and failed tasks free theirs", async () => {
  const limit = createLimiter(3);
  let running = 0;
  let most = 0;
  const outcomes = await Promise.allSettled(
    Array.from({ length: 30 }, (_, nth) =>
      limit(async () => {
        running += 1;
        most = Math.max(most, running);
        await pause(Math.random() * 3);
        running -= 1;
        if (nth % 5 === 0) throw new Error("failed");
        return nth;
      }),
    ),
  );
  expect(most).toBe(3);
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(24);
});
