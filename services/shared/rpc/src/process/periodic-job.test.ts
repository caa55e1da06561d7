import { expect, test } from "vitest";

import { startPeriodicJob } from "./periodic-job.ts";

test("starts immediately, repeats after a failure, and ends when disposed", async () => {
  const errors: string[] = [];
  let turns = 0;
  const job = startPeriodicJob({
    everyMs: 1,
    work: async () => {
      turns += 1;
      if (turns === 1) throw new Error("away");
    },
    onError: ({ message }) => void errors.push(message),
  });
  expect(turns).toBe(1);
  await expect.poll(() => turns).toBeGreaterThan(2);
  await job[Symbol.asyncDispose]();
  const last = turns;
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect([turns, errors]).toEqual([last, ["away"]]);
});

test("aborts the current run on disposal, and waits for it", async () => {
  let finished = false;
  const job = startPeriodicJob({
    everyMs: 60_000,
    work: async (signal) => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      finished = true;
    },
    onError: () => {},
  });
  await job[Symbol.asyncDispose]();
  expect(finished).toBe(true);
});
