import { afterEach, expect, test, vi } from "vitest";

import { createCoalescer } from "./coalescer.ts";

afterEach(() => void vi.useRealTimers());

/** A coalescer with one lane, which a first call holds until `open` is called. */
async function startHeld() {
  const gate = Promise.withResolvers<void>();
  const call = createCoalescer({
    lanes: 1,
    maxBatch: 1,
    maxWaiting: 2,
    send: async (items: readonly number[]) => {
      await gate.promise;
      return items;
    },
  });
  const first = call(1);
  await new Promise((resolve) => setImmediate(resolve));
  return { call, first, open: () => gate.resolve() };
}

test("rejects a call with too_many_requests when too many wait for a lane", async () => {
  const { call, first, open } = await startHeld();
  const admitted = [first, call(2), call(3)];
  await expect(call(4)).rejects.toMatchObject({ key: "too_many_requests" });
  open();
  expect(await Promise.all(admitted)).toEqual([1, 2, 3]);
});

test("calls wait for a process that has just started, but not until their deadline", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const { call, first, open } = await startHeld();
  const early = call(2).catch((error: unknown) => error);
  vi.advanceTimersByTime(2_000);
  const late = call(3);
  vi.advanceTimersByTime(2_000);
  open();
  expect(await Promise.all([first, late])).toEqual([1, 3]);
  expect(await early).toMatchObject({ key: "too_many_requests" });
});
