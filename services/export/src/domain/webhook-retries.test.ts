import { expect, test } from "vitest";

import { pauseAfter } from "./webhook-retries.ts";

test("repeats a delivery 12 times: after 1 minute, then twice as long each time, at last after a day", () => {
  const minutes = Array.from({ length: 13 }, (_, index) => pauseAfter(index + 1)).map((pause) =>
    pause === undefined ? undefined : pause / 60_000,
  );
  expect(minutes).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 1440, undefined]);
});
