import { expect, test } from "vitest";

import { createCoalescer } from "./coalescer.ts";

test("rejects a call with too_many_requests when too many wait for a lane", async () => {
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
  const admitted = [call(1)];
  await new Promise((resolve) => setImmediate(resolve));
  admitted.push(call(2), call(3));
  await expect(call(4)).rejects.toMatchObject({ key: "too_many_requests" });
  gate.resolve();
  expect(await Promise.all(admitted)).toEqual([1, 2, 3]);
});
