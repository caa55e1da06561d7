import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { createLane, type LaneLimits, type RejectionReason } from "./lane.ts";

const LIMITS: LaneLimits = {
  running: 2,
  runningPerProject: 2,
  waiting: 4,
  waitingPerProject: 3,
  expectedWaitMs: 60_000,
  maxWaitMs: 60_000,
};

function openLane(limits: Partial<LaneLimits> = {}) {
  const rejections: RejectionReason[] = [];
  const lane = createLane({ ...LIMITS, ...limits }, (reason) => rejections.push(reason));
  const started: string[] = [];
  /** Enters and starts a request, and notes its name when it runs. */
  const request = (project: string, work = 1) => {
    const place = lane.enter(project, work);
    const turn = place.start(work);
    if (turn === undefined) started.push(project);
    else {
      turn.then(
        () => started.push(project),
        () => started.push(`${project} rejected`),
      );
    }
    return place;
  };
  return { lane, request, started, rejections };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test("runs requests within the bound without waiting, and the next one as soon as another ends", async () => {
  const { lane, request, started } = openLane();
  const places = [request("a"), request("a"), request("a")];
  expect([started.length, lane.running(), lane.waiting()]).toEqual([2, 2, 1]);
  places[0]?.leave();
  places[0]?.leave();
  await settled();
  expect([started.length, lane.running(), lane.waiting()]).toEqual([3, 2, 0]);
});

test("serves projects in turns, however many requests one of them has sent", async () => {
  const { lane } = openLane({ running: 1, waiting: 100, waitingPerProject: 50 });
  const started: string[] = [];
  const order = "a a a a a b c b".split(" ");
  await Promise.all(
    order.map(async (project) => {
      const place = lane.enter(project, 1);
      await place.start(1);
      started.push(project);
      await settled();
      place.leave();
    }),
  );
  expect(started.join("")).toBe("aabcabaa");
});

test("lets a project run no more than its share, so that another one starts immediately", async () => {
  const { request, started } = openLane({ running: 4, runningPerProject: 3, waitingPerProject: 9 });
  const places = [1, 2, 3, 4].map(() => request("a"));
  expect(started).toEqual(["a", "a", "a"]);
  request("b");
  await settled();
  expect(started).toEqual(["a", "a", "a", "b"]);
  places[0]?.leave();
  await settled();
  expect(started).toEqual(["a", "a", "a", "b", "a"]);
});

test("does not let small requests overtake a large one", async () => {
  const { request, started } = openLane({ running: 10, runningPerProject: 10, waiting: 50 });
  const first = request("a", 4);
  const large = request("b", 10);
  request("c", 1);
  first.leave();
  await settled();
  expect(started).toEqual(["a", "b"]);
  large.leave();
  await settled();
  expect(started).toEqual(["a", "b", "c"]);
});

test("runs work above the bound alone", async () => {
  const { request, started, lane } = openLane();
  const large = request("a", 100);
  request("b");
  await settled();
  expect([started, lane.running()]).toEqual([["a"], 100]);
  large.leave();
  await settled();
  expect(started).toEqual(["a", "b"]);
});

test("rejects a project whose share is full, then everyone when the process is full", () => {
  const { request, rejections, lane } = openLane();
  for (let count = 0; count < 5; count += 1) request("a");
  expect(() => lane.enter("a", 1)).toThrow(expect.objectContaining({ key: "too_many_requests" }));
  request("b");
  expect(() => lane.enter("c", 1)).toThrow(expect.objectContaining({ key: "service_unavailable" }));
  expect(rejections).toEqual(["project", "process"]);
});

test("counts requests whose body is being read as waiting, but not as running", () => {
  const { lane, request, started } = openLane();
  const reading = [1, 2, 3].map(() => lane.enter("a", 1));
  expect([lane.running(), lane.waiting()]).toEqual([0, 3]);
  expect(() => lane.enter("a", 1)).toThrow("Too many requests");
  request("b");
  expect(started).toEqual(["b"]);
  for (const place of reading) place.leave();
  expect([lane.running(), lane.waiting()]).toEqual([1, 0]);
});

test("lets only as many requests wait as can start in time at the measured throughput", () => {
  let now = 0;
  const limits = { running: 1, runningPerProject: 1, waiting: 1_000, waitingPerProject: 500 };
  const rejections: RejectionReason[] = [];
  const lane = createLane(
    { ...limits, expectedWaitMs: 800, maxWaitMs: 60_000 },
    (reason) => rejections.push(reason),
    () => now,
  );
  const enter = (project: string) => {
    const place = lane.enter(project, 1);
    void place.start(1)?.catch(() => {});
    return place;
  };
  const fill = (project: string): number => {
    for (let count = 0; ; count += 1) {
      try {
        enter(project);
      } catch {
        return count;
      }
    }
  };
  const first = enter("a");
  const waiting = Array.from({ length: 100 }, () => enter("a"));
  // One of them ends each 10 ms.
  for (const place of [first, ...waiting.slice(0, -1)]) {
    now += 10;
    place.leave();
  }
  // The last one runs. 80 requests could start within 800 ms; a project has half of them.
  enter("a");
  expect(fill("a")).toBe(39);
  expect(fill("b")).toBe(40);
  expect(rejections).toEqual(["project", "project"]);
  expect(fill("c")).toBe(0);
  // Nothing ends any more: as many may wait as may run.
  now += 10_000;
  expect(fill("d")).toBe(0);
});

test("replaces the estimate by the actual work", () => {
  const { lane } = openLane({ running: 10, waiting: 50 });
  const place = lane.enter("a", 3);
  void place.start(1);
  expect([lane.running(), lane.waiting()]).toEqual([1, 0]);
  void place.start(7);
  expect(lane.running()).toBe(7);
  place.leave();
  expect(lane.running()).toBe(0);
});

test("counts nothing when everything has ended, whatever the estimates were", () => {
  const { lane } = openLane({ running: 100, waiting: 500, waitingPerProject: 500 });
  const places = [0.1, 0.2, 63.3, 7.7].map((work) => lane.enter("a", work));
  for (const place of places) void place.start(0.7)?.catch(() => {});
  for (const place of places) place.leave();
  expect([lane.running(), lane.waiting()]).toEqual([0, 0]);
});

test("rejects a request that waits too long, and one whose caller leaves", async () => {
  const { lane, request, started, rejections } = openLane({ running: 1, maxWaitMs: 1 });
  const first = request("a");
  request("a");
  request("b").leave();
  await expect.poll(() => started).toEqual(["a", "b rejected", "a rejected"]);
  expect(rejections).toEqual(["wait"]);
  first.leave();
  expect([lane.running(), lane.waiting()]).toEqual([0, 0]);
});

test.each([
  ["its own requests", "a", "too_many_requests"],
  ["those of another project", "b", "service_unavailable"],
])("tells a late request that it waited for %s", async (_whose, project, key) => {
  const { lane } = openLane({ running: 1, runningPerProject: 1, maxWaitMs: 1 });
  void lane.enter("a", 1).start(1);
  await expect(lane.enter(project, 1).start(1)).rejects.toMatchObject({ key });
});

test("rejects without taking a place, exactly when entering would be rejected", () => {
  const request = fc.record({
    project: fc.constantFrom("a", "b", "c"),
    work: fc.integer({ min: 1, max: 10 }),
    ends: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(request, { maxLength: 60 }), (requests) => {
      const limits = { running: 10, runningPerProject: 8, waiting: 40, waitingPerProject: 20 };
      const { lane, rejections } = openLane(limits);
      for (const { project, work, ends } of requests) {
        const mayReject = lane.mayReject();
        const rejection = lane.overloadError(project, work);
        if (rejection === undefined) {
          const place = lane.enter(project, work);
          if (ends) place.leave();
        } else {
          expect(mayReject).toBe(true);
          const [latest] = rejections.slice(-1);
          expect(() => lane.enter(project, work)).toThrow(rejection);
          expect(rejections.slice(-1)).toEqual([latest]);
        }
      }
    }),
  );
});

describe("for any requests", () => {
  const requests = fc.array(
    fc.record({
      project: fc.constantFrom("a", "b", "c"),
      work: fc.integer({ min: 1, max: 12 }),
      exact: fc.integer({ min: 1, max: 12 }),
      iterations: fc.integer({ min: 0, max: 3 }),
      leavesEarly: fc.boolean(),
    }),
    { maxLength: 40 },
  );

  test("stays within its bounds, runs every admitted request, and is empty at the end", async () => {
    await fc.assert(
      fc.asyncProperty(requests, async (all) => {
        const limits = { running: 10, runningPerProject: 8, waiting: 40, waitingPerProject: 20 };
        const lane = createLane({ ...LIMITS, ...limits }, () => {});
        let ran = 0;
        let admitted = 0;
        const within = (): void => {
          // Work above a bound runs alone.
          expect(lane.running()).toBeLessThanOrEqual(12);
          // Estimates may be corrected upwards once a request has entered.
          expect(lane.waiting()).toBeLessThanOrEqual(40 + 40 * 11);
        };
        await Promise.all(
          all.map(async ({ project, work, exact, iterations, leavesEarly }) => {
            let place;
            try {
              place = lane.enter(project, work);
            } catch {
              return;
            }
            admitted += 1;
            const turn = place.start(exact);
            if (turn !== undefined && leavesEarly) place.leave();
            await turn?.catch(() => {});
            ran += 1;
            within();
            for (let count = 0; count < iterations; count += 1) await settled();
            place.leave();
            within();
          }),
        );
        expect([ran, lane.running(), lane.waiting()]).toEqual([admitted, 0, 0]);
      }),
      { numRuns: 100 },
    );
  });
});
