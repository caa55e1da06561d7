import { expect, test } from "vitest";

import { createOrderQueue, type QueueOutcome } from "./order-queue.ts";

const NEVER = Number.MAX_SAFE_INTEGER;
const later = () => ({ idempotencyKey: undefined, until: Date.now() + 60_000 });

const leave = (outcome: QueueOutcome): void => {
  if (outcome.kind !== "entered") throw new Error(`the request is ${outcome.kind}`);
  outcome.leave();
};

test("lets requests of one order proceed one by one in the order of arrival, and those of other orders immediately", async () => {
  const queue = createOrderQueue({ maxWaiting: 10, maxWaitMs: 1_000 });
  const proceeded: number[] = [];
  const requests = [0, 1, 2, 3].map(async (n) => {
    const outcome = await queue.enter("order", later());
    proceeded.push(n);
    return outcome;
  });
  leave(await queue.enter("another order", later()));
  for (const [n, request] of requests.entries()) {
    const outcome = await request;
    expect(proceeded).toEqual([0, 1, 2, 3].slice(0, n + 1));
    leave(outcome);
    leave(outcome);
  }
  expect((await queue.enter("order", later())).kind).toBe("entered");
});

test("rejects requests above the bound, after their time, and with the key of a running request", async () => {
  const queue = createOrderQueue({ maxWaiting: 1, maxWaitMs: 1_000 });
  const first = await queue.enter("order", { idempotencyKey: "key", until: NEVER });
  const second = queue.enter("order", { idempotencyKey: undefined, until: Date.now() + 1 });
  expect(await queue.enter("order", { idempotencyKey: "key", until: NEVER })).toEqual({
    kind: "repeated",
  });
  expect(await queue.enter("order", later())).toEqual({ kind: "busy" });
  expect(await second).toEqual({ kind: "busy" });
  const third = queue.enter("order", later());
  leave(first);
  leave(await third);
});
