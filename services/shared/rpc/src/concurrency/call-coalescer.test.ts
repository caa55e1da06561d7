import { expect, test } from "vitest";

import type { Call } from "../call/call.ts";
import { createCallCoalescer } from "./call-coalescer.ts";

const callUntil = (deadline: number): Pick<Call, "deadline"> => ({ deadline });

/** Notes each batch and its deadline; the first batch waits for `gate`. */
function startBatches() {
  const gate = Promise.withResolvers<void>();
  const batches: { readonly items: readonly string[]; readonly deadline: number }[] = [];
  const call = createCallCoalescer({
    lanes: 1,
    maxBatch: 10,
    maxWaiting: 10,
    send: async (items: readonly string[], { deadline }) => {
      batches.push({ items, deadline });
      if (batches.length === 1) await gate.promise;
      return items.map((item) => item.toUpperCase());
    },
  });
  return { call, batches, open: gate.resolve };
}

const nextIteration = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("a batch has the latest deadline of its callers, whatever their order", async () => {
  const { call, batches, open } = startBatches();
  const now = Date.now();
  open();
  const calls = [
    call("a", callUntil(now + 2_000)),
    call("b", callUntil(now + 5_000)),
    call("c", callUntil(now + 1_000)),
  ];
  expect(await Promise.all(calls)).toEqual(["A", "B", "C"]);
  expect(batches).toEqual([{ items: ["a", "b", "c"], deadline: now + 5_000 }]);
});

test("a caller whose deadline passes in the queue is rejected, and the others of its batch are served", async () => {
  const { call, batches, open } = startBatches();
  const now = Date.now();
  const first = call("first", callUntil(now + 60_000));
  await nextIteration();
  const expired = [call("x", callUntil(now - 1)), call("y", callUntil(now - 1))];
  const live = call("z", callUntil(now + 60_000));
  open();
  expect(await first).toBe("FIRST");
  for (const each of expired)
    await expect(each).rejects.toMatchObject({ key: "deadline_exceeded" });
  expect(await live).toBe("Z");
  expect(batches.map(({ items }) => items)).toEqual([["first"], ["z"]]);
});

test("a batch of expired callers is not sent", async () => {
  const { call, batches } = startBatches();
  await expect(call("x", callUntil(Date.now() - 1))).rejects.toMatchObject({
    key: "deadline_exceeded",
  });
  expect(batches).toEqual([]);
});
