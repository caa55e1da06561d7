import fc from "fast-check";
import { expect, test } from "vitest";

import { createInterleaver, mapInterleaved } from "./interleave.ts";

const STEP_MS = 4;
const NEVER = { deadline: Number.MAX_SAFE_INTEGER };

/** An event loop whose iterations the test counts, and a clock that only work advances. */
function createLoop() {
  let time = 0;
  let callbacks: (() => void)[] = [];
  const runInterleaved = createInterleaver({
    now: () => time,
    later: (callback) => callbacks.push(callback),
  });
  function* work(name: string, count: number, log: string[]): Generator<void, string> {
    for (let step = 1; step < count; step += 1) {
      time += STEP_MS;
      log.push(name);
      yield;
    }
    time += STEP_MS;
    log.push(name);
    return name;
  }
  return {
    runInterleaved,
    work,
    round: async () => {
      const due = callbacks;
      callbacks = [];
      for (const callback of due) callback();
      // Waiting work continues in microtasks.
      await new Promise((resolve) => setImmediate(resolve));
      return due.length;
    },
  };
}

test("returns the result of short work synchronously", () => {
  const { runInterleaved, work } = createLoop();
  expect(runInterleaved(work("a", 3, []), NEVER)).toBe("a");
});

test("pauses longer work, and continues one piece of work per iteration of the event loop", async () => {
  const { runInterleaved, work, round } = createLoop();
  const log: string[] = [];
  const all = ["a", "b", "c"].map(async (name) => runInterleaved(work(name, 7, log), NEVER));
  const rounds = [log.splice(0)];
  while ((await round()) > 0) rounds.push(log.splice(0));
  expect(rounds.map((each) => each.join(""))).toEqual([
    "aaabbbccc",
    "aaa",
    "bbb",
    "ccc",
    "a",
    "b",
    "c",
  ]);
  expect(await Promise.all(all)).toEqual(["a", "b", "c"]);
});

test("executes all steps of all concurrent work", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 5 }), async (counts) => {
      const { runInterleaved, work, round } = createLoop();
      const log: string[] = [];
      const all = counts.map(async (count, at) => runInterleaved(work(`${at}`, count, log), NEVER));
      while ((await round()) > 0);
      await Promise.all(all);
      const taken = counts.map((_count, at) => log.filter((name) => name === `${at}`).length);
      expect(taken).toEqual(counts);
    }),
  );
});

test.each([
  ["deadline has passed", { deadline: 0 }],
  ["caller has left", { ...NEVER, isAbandoned: () => true }],
])("stops work whose %s", async (_name, limit) => {
  const { runInterleaved, work, round } = createLoop();
  const log: string[] = [];
  const late = Promise.resolve(runInterleaved(work("a", 7, log), limit)).catch(
    ({ key }: { key: string }) => key,
  );
  await round();
  expect(await late).toBe("deadline_exceeded");
  expect(log).toHaveLength(3);
});

test("confines an error to the work that threw it", async () => {
  const { runInterleaved, work, round } = createLoop();
  function* failing(): Generator<void, string> {
    yield* work("a", 5, []);
    throw new Error("no more");
  }
  const failed = Promise.resolve(runInterleaved(failing(), NEVER)).catch(
    ({ message }: Error) => message,
  );
  const other = runInterleaved(work("b", 7, []), NEVER);
  while ((await round()) > 0);
  expect(await Promise.all([failed, other])).toEqual(["no more", "b"]);
});

test("maps a list in its order", async () => {
  const items = Array.from({ length: 100 }, (_, n) => n);
  expect(await mapInterleaved(items, (n) => n * 2, NEVER)).toEqual(items.map((n) => n * 2));
});
