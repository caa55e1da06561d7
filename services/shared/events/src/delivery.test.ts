import fc from "fast-check";
import { expect, test } from "vitest";

import type { DeliveredEvent } from "./bus.ts";
import { deliver, type DeliveryPolicy } from "./delivery.ts";

const POLICY: DeliveryPolicy = {
  isTransient: (error) => error instanceof Error && error.message === "passing",
  attempts: 3,
  backOffMs: 0,
  maxBackOffMs: 0,
};

test("brings each event to its handler or to the dead letters, once and in order", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 40 }),
      fc.uniqueArray(fc.nat(39), { maxLength: 5 }),
      fc.array(fc.nat(30), { maxLength: 5 }),
      async (count, poisonous, troubledCalls) => {
        const events = buildEvents(count);
        const handled: bigint[] = [];
        const buried: bigint[] = [];
        let calls = 0;
        await deliver(events, {
          handle: async (batch) => {
            calls += 1;
            if (troubledCalls.includes(calls)) throw new Error("passing");
            if (batch.some(({ offset }) => poisonous.includes(Number(offset))))
              throw new Error("poison");
            handled.push(...batch.map(({ offset }) => offset));
          },
          storeDeadLetter: async ({ offset }, _error, attempts) => {
            expect(attempts).toBe(POLICY.attempts);
            buried.push(offset);
          },
          onError: () => {},
          policy: POLICY,
          signal: new AbortController().signal,
        });

        const isPoisonous = (offset: bigint): boolean => poisonous.includes(Number(offset));
        const offsets = events.map(({ offset }) => offset);
        expect(handled).toEqual(offsets.filter((offset) => !isPoisonous(offset)));
        expect(buried).toEqual(offsets.filter(isPoisonous));
      },
    ),
  );
});

test("retries to store a dead letter until it succeeds", async () => {
  let attempts = 0;
  await deliver(buildEvents(1), {
    handle: () => Promise.reject(new Error("poison")),
    storeDeadLetter: async () => {
      attempts += 1;
      if (attempts < 4) throw new Error("no ground");
    },
    onError: () => {},
    policy: POLICY,
    signal: new AbortController().signal,
  });
  expect(attempts).toBe(4);
});

test("halves a batch that exceeds a time limit repeatedly, without dead letters", async () => {
  const handled: number[] = [];
  await deliver(buildEvents(100), {
    handle: async (batch) => {
      if (batch.length > 30) throw new Error("passing");
      handled.push(batch.length);
    },
    storeDeadLetter: () => Promise.reject(new Error("no event may become a dead letter")),
    onError: () => {},
    policy: POLICY,
    signal: new AbortController().signal,
  });
  expect(handled).toEqual([25, 25, 25, 25]);
});

test("stops immediately when aborted, even in a pause", async () => {
  const stop = new AbortController();
  const delivery = deliver(buildEvents(1), {
    handle: () => Promise.reject(new Error("passing")),
    storeDeadLetter: () => Promise.reject(new Error("no event may become a dead letter")),
    onError: () => setImmediate(() => stop.abort()),
    policy: { ...POLICY, backOffMs: 60_000, maxBackOffMs: 60_000 },
    signal: stop.signal,
  });
  await expect(delivery).rejects.toThrow("aborted");
});

const buildEvents = (count: number): DeliveredEvent[] =>
  Array.from({ length: count }, (_, index) => ({
    id: `event-${index}`,
    topic: "scrip.test.v1",
    key: "v_1",
    projectId: "proj_1",
    payload: new Uint8Array(),
    headers: {},
    occurredAt: new Date(0),
    partition: 0,
    offset: BigInt(index),
  }));
