import fc from "fast-check";
import { expect, test } from "vitest";

import { createInterleaver, mapInterleaved } from "./interleave.ts";

const STEP_MS = 2;
const of = (id: string) => ({ project: { id }, deadline: Number.MAX_SAFE_INTEGER });
const NEVER = of("p");

/** An event loop whose iterations the test counts, and a clock that only work advances. */
function createLoop() {
  let time = 0;
  let callbacks: (() => void)[] = [];
  const {
    run: runInterleaved,
    runLater,
    yieldToArrivals,
  } = createInterleaver({
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
    runLater,
    yieldToArrivals,
    advance: (ms: number) => {
      time += ms;
    },
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

/** What each iteration of the event loop executes until all work has ended. */
async function iterationsOf(
  { round }: Pick<ReturnType<typeof createLoop>, "round">,
  log: string[],
): Promise<readonly string[]> {
  const iterations = [log.splice(0).join("")];
  while ((await round()) > 0) iterations.push(log.splice(0).join(""));
  return iterations.filter((each) => each !== "");
}

test("returns the result of short work synchronously", () => {
  const { runInterleaved, work } = createLoop();
  expect(runInterleaved(work("a", 2, []), NEVER)).toBe("a");
});

test("continues the long work of one project in turns, within a time per iteration", async () => {
  const { runInterleaved, work, round } = createLoop();
  const log: string[] = [];
  const all = ["a", "b", "c"].map(async (name) => runInterleaved(work(name, 5, log), NEVER));
  // The first one pauses, so that the others wait behind it.
  expect(await iterationsOf({ round }, log)).toEqual([
    "aa",
    "aa",
    "bb",
    "cc",
    "ab",
    "cc",
    "bb",
    "c",
  ]);
  expect(await Promise.all(all)).toEqual(["a", "b", "c"]);
});

test("starts the work of a project without paused work immediately, and alternates between projects", async () => {
  const { runInterleaved, work, round } = createLoop();
  const log: string[] = [];
  for (const name of ["a", "b", "c"]) void runInterleaved(work(name, 6, log), of("many"));
  void runInterleaved(work("o", 3, log), of("other"));
  expect(runInterleaved(work("s", 1, log), of("short"))).toBe("s");
  expect(await iterationsOf({ round }, log)).toEqual([
    "aaos",
    "aa",
    "oo",
    "bb",
    "cc",
    "aa",
    "bb",
    "cc",
    "bb",
    "cc",
  ]);
});

test("continues no work in iterations that accept a connection, for a bounded time", async () => {
  const { runInterleaved, yieldToArrivals, advance, work, round } = createLoop();
  const log: string[] = [];
  void runInterleaved(work("a", 100, log), NEVER);
  const accept = async (connections: number): Promise<void> => {
    for (let accepted = 0; accepted < connections; accepted += 1) {
      advance(1);
      yieldToArrivals();
      await round();
    }
  };
  await round();
  log.length = 0;
  await accept(49);
  expect(log.join("")).toBe("");
  await round();
  expect(log.join("")).toBe("aa");
  log.length = 0;
  await accept(60);
  expect(log.join("")).toBe("aa");
});

test("begins work that can wait in its turn, and after connections that arrive", async () => {
  const { runLater, yieldToArrivals, work, round } = createLoop();
  const log: string[] = [];
  const all = ["a", "b"].map((name) => runLater(work(name, 3, log), NEVER));
  expect(log).toEqual([]);
  yieldToArrivals();
  await round();
  expect(log).toEqual([]);
  expect(await iterationsOf({ round }, log)).toEqual(["aa", "bb", "ab"]);
  expect(await Promise.all(all)).toEqual(["a", "b"]);
});

test("executes all steps of all concurrent work", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 5 }), async (counts) => {
      const { runInterleaved, work, round } = createLoop();
      const log: string[] = [];
      const all = counts.map(async (count, at) =>
        runInterleaved(work(`${at}`, count, log), of(`p${at % 2}`)),
      );
      while ((await round()) > 0);
      await Promise.all(all);
      const taken = counts.map((_count, at) => log.filter((name) => name === `${at}`).length);
      expect(taken).toEqual(counts);
    }),
  );
});

test.each([
  ["deadline has passed", { ...NEVER, deadline: 0 }],
  ["caller has left", { ...NEVER, isAbandoned: () => true }],
])("stops work whose %s", async (_name, limit) => {
  const { runInterleaved, work, round } = createLoop();
  const log: string[] = [];
  const late = Promise.resolve(runInterleaved(work("a", 7, log), limit)).catch(
    ({ key }: { key: string }) => key,
  );
  await round();
  expect(await late).toBe("deadline_exceeded");
  expect(log).toHaveLength(2);
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
