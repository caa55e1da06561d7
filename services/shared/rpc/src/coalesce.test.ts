import fc from "fast-check";
import { expect, test } from "vitest";

import { createCoalescer } from "./coalesce.ts";

const settings = { lanes: 1, maxBatch: 100, maxWaiting: 1_000 };

test("what is asked in one turn of the event loop travels together, in order", async () => {
  const batches: number[][] = [];
  const ask = createCoalescer({
    ...settings,
    send: async (items: readonly number[]) => {
      batches.push([...items]);
      return items.map((item) => item * 2);
    },
  });
  expect(await Promise.all([1, 2, 3].map(ask))).toEqual([2, 4, 6]);
  expect(batches).toEqual([[1, 2, 3]]);
});

test("while a lane is busy new items gather, and leave together when it is free", async () => {
  const batches: number[] = [];
  const gate = Promise.withResolvers<void>();
  const ask = createCoalescer({
    ...settings,
    send: async (items: readonly number[]) => {
      batches.push(items.length);
      if (batches.length === 1) await gate.promise;
      return items;
    },
  });
  const first = ask(0);
  await turn();
  const others = Array.from({ length: 50 }, (_, i) => ask(i));
  await turn();
  expect(batches).toEqual([1]);
  gate.resolve();
  await Promise.all([first, ...others]);
  expect(batches).toEqual([1, 50]);
});

test("one bad item harms no other where the items may be sent again", async () => {
  const batches: number[][] = [];
  const ask = createCoalescer({
    ...settings,
    isBadItem: (error) => (error as Error).message === "odd",
    send: async (items: readonly number[]) => {
      batches.push([...items]);
      if (items.some((item) => item % 2 === 1)) throw new Error("odd");
      if (items.includes(0)) throw new Error("away");
      return items;
    },
  });
  const answers = await Promise.allSettled([2, 3, 4].map(ask));
  expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  await expect(Promise.all([0, 2].map(ask))).rejects.toThrow("away");
  expect(batches).toEqual([[2, 3, 4], [2], [3], [4], [0, 2]]);
});

test("a batch that fails fails each of its items, and the next one works", async () => {
  let fails = true;
  const ask = createCoalescer({
    ...settings,
    send: async (items: readonly number[]) => {
      if (fails) throw new Error("away");
      return items;
    },
  });
  const outcomes = await Promise.allSettled([ask(1), ask(2)]);
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  fails = false;
  expect(await ask(3)).toBe(3);
});

test("a batch that is not answered item by item is an error, not a mix-up", async () => {
  const ask = createCoalescer({ ...settings, send: async () => [1] });
  const outcomes = await Promise.allSettled([ask(1), ask(2)]);
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
});

test("beyond the bound a caller is refused at once", async () => {
  const gate = Promise.withResolvers<void>();
  const ask = createCoalescer({
    lanes: 1,
    maxBatch: 1,
    maxWaiting: 2,
    send: async (items: readonly number[]) => {
      await gate.promise;
      return items;
    },
  });
  const kept = [ask(1)];
  await turn();
  kept.push(ask(2), ask(3));
  await expect(ask(4)).rejects.toMatchObject({ key: "too_many_requests" });
  gate.resolve();
  expect(await Promise.all(kept)).toEqual([1, 2, 3]);
});

test("whatever the lanes and sizes, everybody gets their own answer", async () => {
  const runs = fc.record({
    lanes: fc.integer({ min: 1, max: 4 }),
    maxBatch: fc.integer({ min: 1, max: 7 }),
    waits: fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 60 }),
  });
  await fc.assert(
    fc.asyncProperty(runs, async ({ lanes, maxBatch, waits }) => {
      let busy = 0;
      const ask = createCoalescer({
        lanes,
        maxBatch,
        maxWaiting: 1_000,
        send: async (items: readonly number[]) => {
          busy += 1;
          expect(busy).toBeLessThanOrEqual(lanes);
          expect(items.length).toBeLessThanOrEqual(maxBatch);
          for (let i = 0; i < (items[0] ?? 0) % 3; i += 1) await turn();
          busy -= 1;
          return items.map((item) => item + 1);
        },
      });
      const answers = await Promise.all(
        waits.map(async (wait, index) => {
          for (let i = 0; i < wait; i += 1) await turn();
          return ask(index);
        }),
      );
      expect(answers).toEqual(waits.map((_, index) => index + 1));
    }),
    { numRuns: 50 },
  );
});

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
