import { expect, test } from "vitest";

import { createRetrySpread } from "./retry-spread.ts";

test("spreads the return of rejected requests over more seconds while more are rejected", () => {
  let now = 0;
  let part = 0;
  const secondsAfter = createRetrySpread({ now: () => now, random: () => part });
  expect(secondsAfter()).toBe(1);
  part = 0.999;
  expect(secondsAfter()).toBe(3);
  for (let rejected = 0; rejected < 200; rejected += 1) secondsAfter();
  expect(secondsAfter()).toBe(9);
  now = 1_000;
  expect(secondsAfter()).toBe(9);
  for (let rejected = 0; rejected < 10_000; rejected += 1) secondsAfter();
  expect(secondsAfter()).toBe(15);
});

test("forgets the rejections of a burst after two seconds", () => {
  let now = 0;
  const secondsAfter = createRetrySpread({ now: () => now, random: () => 0.999 });
  for (let rejected = 0; rejected < 1_000; rejected += 1) secondsAfter();
  now = 2_000;
  expect(secondsAfter()).toBe(3);
});
