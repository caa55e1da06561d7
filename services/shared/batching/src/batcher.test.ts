import fc from "fast-check";
import { expect, test } from "vitest";

import { createBatcher } from "./batcher.ts";

const settings = { lanes: 1, maxBatch: 100 };

test("sends the items of one event-loop iteration together, in order", async () => {
  const batches: number[][] = [];
  const request = createBatcher({
    ...settings,
    send: async (items: readonly number[]) => {
      batches.push([...items]);
      return items.map((item) => item * 2);
    },
  });
  expect(await Promise.all([1, 2, 3].map(request))).toEqual([2, 4, 6]);
  expect(batches).toEqual([[1, 2, 3]]);
});

test("accumulates items while a lane is busy, and sends them together when it is free", async () => {
  const batches: number[] = [];
  const gate = Promise.withResolvers<void>();
  const request = createBatcher({
    ...settings,
    send: async (items: readonly number[]) => {
      batches.push(items.length);
      if (batches.length === 1) await gate.promise;
      return items;
    },
  });
  const first = request(0);
  await nextIteration();
  const others = Array.from({ length: 50 }, (_, i) => request(i));
  await nextIteration();
  expect(batches).toEqual([1]);
  gate.resolve();
  await Promise.all([first, ...others]);
  expect(batches).toEqual([1, 50]);
});

test("sends the items of a failed batch one by one when one item may be bad", async () => {
  const batches: number[][] = [];
  const request = createBatcher({
    ...settings,
    isBadItem: (error) => (error as Error).message === "odd",
    send: async (items: readonly number[]) => {
      batches.push([...items]);
      if (items.some((item) => item % 2 === 1)) throw new Error("odd");
      if (items.includes(0)) throw new Error("away");
      return items;
    },
  });
  const results = await Promise.allSettled([2, 3, 4].map(request));
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  await expect(Promise.all([0, 2].map(request))).rejects.toThrow("away");
  expect(batches).toEqual([[2, 3, 4], [2], [3], [4], [0, 2]]);
});

test("fails each item of a failed batch, and sends the next batch", async () => {
  let fails = true;
  const request = createBatcher({
    ...settings,
    send: async (items: readonly number[]) => {
      if (fails) throw new Error("away");
      return items;
    },
  });
  const outcomes = await Promise.allSettled([request(1), request(2)]);
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  fails = false;
  expect(await request(3)).toBe(3);
});

test("fails a batch whose number of results differs from its number of items", async () => {
  const request = createBatcher({ ...settings, send: async () => [1] });
  const outcomes = await Promise.allSettled([request(1), request(2)]);
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
});

test("rejects an item immediately when too many wait", async () => {
  const gate = Promise.withResolvers<void>();
  const request = createBatcher({
    lanes: 1,
    maxBatch: 1,
    overload: { maxWaiting: 2, maxWaitMs: 1_000, error: () => new Error("overloaded") },
    send: async (items: readonly number[]) => {
      await gate.promise;
      return items;
    },
  });
  const admitted = [request(1)];
  await nextIteration();
  admitted.push(request(2), request(3));
  await expect(request(4)).rejects.toThrow("overloaded");
  gate.resolve();
  expect(await Promise.all(admitted)).toEqual([1, 2, 3]);
});

test("rejects an item that waited too long for a lane", async () => {
  const gate = Promise.withResolvers<void>();
  const request = createBatcher({
    lanes: 1,
    maxBatch: 1,
    overload: { maxWaiting: 10, maxWaitMs: 5, error: () => new Error("overloaded") },
    send: async (items: readonly number[]) => {
      await gate.promise;
      return items;
    },
  });
  const first = request(1);
  await nextIteration();
  const second = request(2);
  await new Promise((resolve) => setTimeout(resolve, 20));
  gate.resolve();
  expect(await first).toBe(1);
  await expect(second).rejects.toThrow("overloaded");
});

test("returns each caller its own result for any number of lanes and any batch size", async () => {
  const runs = fc.record({
    lanes: fc.integer({ min: 1, max: 4 }),
    maxBatch: fc.integer({ min: 1, max: 7 }),
    waits: fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 60 }),
  });
  await fc.assert(
    fc.asyncProperty(runs, async ({ lanes, maxBatch, waits }) => {
      let busy = 0;
      const request = createBatcher({
        lanes,
        maxBatch,
        send: async (items: readonly number[]) => {
          busy += 1;
          expect(busy).toBeLessThanOrEqual(lanes);
          expect(items.length).toBeLessThanOrEqual(maxBatch);
          for (let i = 0; i < (items[0] ?? 0) % 3; i += 1) await nextIteration();
          busy -= 1;
          return items.map((item) => item + 1);
        },
      });
      const results = await Promise.all(
        waits.map(async (wait, index) => {
          for (let i = 0; i < wait; i += 1) await nextIteration();
          return request(index);
        }),
      );
      expect(results).toEqual(waits.map((_, index) => index + 1));
    }),
    { numRuns: 50 },
  );
});

const nextIteration = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
