import { ApiError } from "@scrip/errors";
import { newId } from "@scrip/ids";
import { AsyncActionStatus } from "@scrip/proto/scrip/export/v1/async_actions_pb";
import { asAdmin, lockWaits } from "@scrip/testing";
import { expect, test } from "vitest";

import type { AnyJobDefinition } from "../src/jobs/job-definition.ts";
import { startJob } from "../src/store/jobs.ts";
import { QUEUE_SCHEMA } from "../src/store/queue-schema.ts";
import { scheduleTurn } from "../src/store/turns.ts";
import { newCall, reaches, startCount } from "./builders.ts";
import { startCounting } from "./counting.ts";
import { COUNT, countJob } from "./fixture/count-job.ts";

const { DONE, IN_PROGRESS } = AsyncActionStatus;

const exports = await startCounting();
const { db, errors, countedBy, takeTurnOf } = exports;

test("a job that pauses leaves its place, however often, and goes on where it was", async () => {
  const call = newCall();
  const asyncActionId = await startCount(exports, call, { to: 4, perSlice: 2 });
  const action = () => exports.asyncActions.getAsyncAction({ asyncActionId }, call);
  let pauses = 0;
  const paused: number[] = [];
  const pausing = {
    ...countJob(db),
    // Before the first slice more often than a job is attempted, and before the second one.
    slice: (slice: Parameters<ReturnType<typeof countJob>["slice"]>[0]) => {
      pauses += 1;
      paused.push(slice.pausedMs);
      return pauses < 15 || pauses === 16
        ? Promise.resolve({ pauseMs: pauses === 1 ? 1_000 : 10 })
        : countJob(db).slice(slice);
    },
  };
  const turn = () => takeTurnOf(pausing, call);
  await turn();
  expect(pauses).toBe(1);
  expect(await action()).toMatchObject({ status: IN_PROGRESS, processed: 0n });
  await expect
    .poll(async () => {
      await turn();
      return (await action()).status;
    })
    .toBe(DONE);
  expect(pauses).toBe(17);
  // Counted from the first pause of each slice: a second and 13 pauses of 10 ms, and one.
  expect([paused[0], paused[15]]).toEqual([0, 0]);
  expect(paused.slice(1, 15)).toEqual(paused.slice(1, 15).toSorted((a, b) => a - b));
  expect(paused[14]).toBeGreaterThanOrEqual(1_130);
  expect(paused[16]).toBeGreaterThanOrEqual(10);
  expect(paused[16]).toBeLessThan(paused[14] ?? 0);
  expect(await countedBy(asyncActionId)).toEqual([0, 1, 2, 3]);
});

test("a job waits for an owner that is busy, for two hours, and uses no attempt", async () => {
  const call = newCall();
  const asyncActionId = await startCount(exports, call, { to: 2, perSlice: 1 });
  const changeJob = (set: string) =>
    asAdmin(db.url, (client) =>
      client.query(`update export.job set ${set} where id = $1`, [asyncActionId]),
    );
  const attempt = async (item: (nth: number) => void) => {
    await changeJob("retry_at = null");
    await takeTurnOf(countJob(db, item), call);
    const { rows } = await db.query<{ attempts: number; waits: boolean; paused: boolean }>(
      `select attempts, retry_at is not null as waits, paused_since is not null as paused
         from job where id = $1`,
      [asyncActionId],
    );
    return rows[0];
  };
  const reject = () => {
    throw new ApiError("too_many_requests", { details: "Three readers" });
  };
  const reported = errors.length;
  for (let times = 0; times < 15; times += 1) {
    expect(await attempt(reject)).toEqual({ attempts: 0, waits: true, paused: false });
  }
  expect(errors).toHaveLength(reported);
  // Once after a minute, with its reason.
  for (const seconds of [40, 57, 70]) {
    await changeJob(`busy_since = clock_timestamp() - interval '${seconds} seconds'`);
    await attempt(reject);
  }
  const waiting = errors.splice(reported);
  expect(waiting.map(({ message }) => message)).toEqual([
    `Job ${asyncActionId} (TEST.COUNT) waits for a service that has too much to do`,
  ]);
  const { rows } = await db.query("select last_error from job where id = $1", [asyncActionId]);
  expect(rows).toEqual([
    { last_error: "Too many requests hit the API too quickly.: Three readers" },
  ]);
  await changeJob("busy_since = clock_timestamp() - interval '2 hours'");
  expect(await attempt(reject)).toEqual({ attempts: 1, waits: true, paused: false });
  expect(errors.splice(reported)).toHaveLength(1);
  // The next slice waits anew.
  await attempt((nth) => {
    if (nth === 1) reject();
  });
  const { rows: anew } = await db.query<{ isNew: boolean }>(
    `select slices = 1 and busy_since > clock_timestamp() - interval '1 minute' as "isNew"
       from job where id = $1`,
    [asyncActionId],
  );
  expect(anew).toEqual([{ isNew: true }]);
  await attempt(() => {});
  await reaches(exports, call, { asyncActionId, status: DONE });
});

test.each([
  {
    queue: "exports",
    key: "too_many_requests",
    text: "a later export goes first",
    goesFirst: true,
  },
  {
    queue: "bulk",
    key: "too_many_requests",
    text: "later bulk work stays behind",
    goesFirst: false,
  },
  // Otherwise an outage would use up the attempts of all of them.
  {
    queue: "exports",
    key: "service_unavailable",
    text: "a later export stays behind",
    goesFirst: false,
  },
] as const)("while a job waits after $key, $text", async ({ queue, key: error, goesFirst }) => {
  const call = newCall();
  const start = async (): Promise<string> => {
    const id = newId("aa");
    const input = { to: 1, perSlice: 1, failing: [] };
    await db.transaction((tx) => startJob(tx, call, { id, queue, type: COUNT, input }));
    return id;
  };
  const key = `${queue}:${call.project.id}`;
  const isTurnDue = async (): Promise<boolean | undefined> => {
    const { rows } = await db.query<{ due: boolean }>(
      `select run_at <= clock_timestamp() as due from ${QUEUE_SCHEMA}.jobs where key = $1`,
      [key],
    );
    return rows[0]?.due;
  };
  const attempted: string[] = [];
  const counting = countJob(db);
  const definition: AnyJobDefinition = {
    ...counting,
    slice: (each) => {
      attempted.push(each.id);
      if (each.id === waiting) throw new ApiError(error);
      return counting.slice(each);
    },
  };
  const turn = () => takeTurnOf(definition, call, queue);
  /** graphile-worker has fetched it. */
  const removeTurn = () => db.query(`select from ${QUEUE_SCHEMA}.remove_job($1)`, [key]);
  const reported = errors.length;
  const waiting = await start();
  await removeTurn();
  await turn();
  expect(await isTurnDue()).toBe(false);
  const later = await start();
  // At once, not when the waiting one is due.
  expect(await isTurnDue()).toBe(true);
  await removeTurn();
  await turn();
  expect(await isTurnDue()).toBe(false);
  expect(attempted).toEqual(goesFirst ? [waiting, later] : [waiting]);
  expect(await countedBy(later)).toEqual(goesFirst ? [0] : []);
  // A turn that is due already is not put off by the one that waits.
  await db.transaction((tx) => scheduleTurn(tx, { projectId: call.project.id, queue }));
  await turn();
  expect(await isTurnDue()).toBe(true);
  expect(attempted).toHaveLength(goesFirst ? 2 : 1);
  errors.splice(reported);
});

test("a turn for later leaves the turn of a job that is started meanwhile as it is", async () => {
  const call = newCall();
  const queue = { projectId: call.project.id, queue: "exports" } as const;
  const started = Promise.withResolvers<void>();
  const waits = Promise.withResolvers<void>();
  const starting = db.transaction(async (tx) => {
    const input = { to: 1, perSlice: 1, failing: [] };
    await startJob(tx, call, { id: newId("aa"), queue: "exports", type: COUNT, input });
    started.resolve();
    await waits.promise;
  });
  await started.promise;
  const scheduling = scheduleTurn(db, queue, new Date(Date.now() + 60_000));
  await expect.poll(() => lockWaits(db.url)).toBe(1);
  waits.resolve();
  await Promise.all([starting, scheduling]);
  const { rows } = await db.query(
    `select run_at <= clock_timestamp() as due from ${QUEUE_SCHEMA}.jobs where key = $1`,
    [`exports:${queue.projectId}`],
  );
  expect(rows).toEqual([{ due: true }]);
});

test("a queue that waited for the end of a turn is next", async () => {
  const first = { projectId: newId("proj"), queue: "exports" } as const;
  const second = { projectId: newId("proj"), queue: "exports" } as const;
  const keys = [first, second].map(({ queue, projectId }) => `${queue}:${projectId}`);
  await scheduleTurn(db, first);
  // graphile-worker carries it out.
  await db.query(
    `update ${QUEUE_SCHEMA}._private_jobs set locked_at = now(), locked_by = 'other', attempts = 1 where key = $1`,
    [keys[0]],
  );
  await scheduleTurn(db, second);
  await scheduleTurn(db, first);
  const { rows } = await db.query<{ key: string }>(
    `select key from ${QUEUE_SCHEMA}._private_jobs where key = any($1) order by run_at, id`,
    [keys],
  );
  expect(rows.map(({ key }) => key)).toEqual([keys[1], keys[0]]);
});
