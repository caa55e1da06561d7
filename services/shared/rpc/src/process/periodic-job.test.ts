import { expect, test } from "vitest";

import { startBatchJob, startPeriodicJob, startWokenJob } from "./periodic-job.ts";

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

test("processes batches without a pause until no rows are left", async () => {
  let batches = 0;
  const job = startBatchJob({
    everyMs: 60_000,
    batch: async () => {
      batches += 1;
      return batches < 3;
    },
    onError: () => {},
  });
  await expect.poll(() => batches).toBe(3);
  await job[Symbol.asyncDispose]();
});

test("pauses between batches if it should, until it is disposed", async () => {
  let batches = 0;
  const start = (pauseMs: number) =>
    startBatchJob({
      everyMs: 60_000,
      pauseMs,
      batch: async () => {
        batches += 1;
        return batches < 3;
      },
      onError: () => {},
    });
  const job = start(1);
  await expect.poll(() => batches).toBe(3);
  await job[Symbol.asyncDispose]();

  batches = 0;
  const paused = start(60_000);
  await new Promise((resolve) => setTimeout(resolve, 10));
  await paused[Symbol.asyncDispose]();
  expect(batches).toBe(1);
});

test("ends after the batch during which it is disposed", async () => {
  let batches = 0;
  const started = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const job = startBatchJob({
    everyMs: 60_000,
    batch: async () => {
      batches += 1;
      started.resolve();
      await end.promise;
      return true;
    },
    onError: () => {},
  });
  await started.promise;
  const disposed = job[Symbol.asyncDispose]();
  end.resolve();
  await disposed;
  expect(batches).toBe(1);
});

test("pauses for long until it is woken, then runs at short intervals", async () => {
  let batches = 0;
  const job = startWokenJob({
    everyMs: 5,
    idleMs: 60_000,
    wokenMs: 100,
    batch: async () => {
      batches += 1;
      return false;
    },
    onError: () => {},
  });
  const settled = async (): Promise<number> => {
    for (let before = -1; before !== batches;) {
      before = batches;
      await new Promise((resolve) => setTimeout(resolve, 150));
    }
    return batches;
  };
  const idle = await settled();
  expect(idle).toBeGreaterThan(1);
  job.wake();
  expect(await settled()).toBeGreaterThan(idle + 1);
  await job[Symbol.asyncDispose]();
});
