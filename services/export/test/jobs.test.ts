import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";

import { ApiError } from "@scrip/errors";
import { AsyncActionStatus } from "@scrip/proto/scrip/export/v1/async_actions_pb";
import type { Call } from "@scrip/rpc";
import { asAdmin } from "@scrip/testing";
import { expect, test } from "vitest";

import { QUEUE_SCHEMA } from "../src/store/queue-schema.ts";
import {
  findHeldTurns,
  deleteWorker,
  keepWorkerAlive,
  releaseOrphanedLanes,
  releaseTurns,
  scheduleTurn,
} from "../src/store/turns.ts";
import { newCall, reaches, startCount } from "./builders.ts";
import { startCounting } from "./counting.ts";
import { anyProject } from "./deps.ts";
import { countJob } from "./fixture/count-job.ts";

const { DONE, FAILED, IN_PROGRESS } = AsyncActionStatus;

const exports = await startCounting();
const { db, errors, countedBy, takeTurnOf } = exports;
const startWorker = async (attempt?: (item: number) => void) =>
  exports.startWorker([countJob(db, attempt)]);

const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, item) => item);

/** One turn of a project, without graphile-worker. */
const takeTurn = (
  call: Call,
  attempt?: (item: number) => unknown,
  onFailed?: () => Promise<void>,
): Promise<void> => takeTurnOf({ ...countJob(db, attempt), ...(onFailed && { onFailed }) }, call);

test("carries out a job slice by slice, and names the items that failed", async () => {
  await startWorker();
  const call = newCall();
  const asyncActionId = await startCount(exports, call, { failing: [0, 7] });
  const done = await reaches(exports, call, { asyncActionId, status: DONE });
  expect(done).toMatchObject({ progress: 100n, processed: 8n, failed: 2n, total: 10n });
  expect(done.result).toEqual({
    message: "Counted 8 items.",
    done_count: 8,
    failed_count: 2,
    failed: [
      { item: 0, reason: "Item 0 fails" },
      { item: 7, reason: "Item 7 fails" },
    ],
  });
  expect(await countedBy(asyncActionId)).toEqual(upTo(10));
});

test("shows the progress of a running job, and carries out the jobs of a project in order", async () => {
  await startWorker();
  const call = newCall();
  const first = await startCount(exports, call, { to: 8, perSlice: 1, pauseMs: 150 });
  const second = await startCount(exports, call, { to: 1 });
  const running = await reaches(exports, call, { asyncActionId: first, status: IN_PROGRESS });
  expect(running.progress).toBeLessThan(100n);
  await expect
    .poll(async () => {
      const action = await exports.asyncActions.getAsyncAction({ asyncActionId: first }, call);
      return action.processed > 0n && action.progress === (action.processed * 100n) / 8n;
    })
    .toBe(true);
  await reaches(exports, call, { asyncActionId: second, status: DONE });
  const ended = await exports.asyncActions.getAsyncAction({ asyncActionId: first }, call);
  expect(ended.status).toBe(DONE);
});

test("a turn continues until another queue waits", async () => {
  const forgetTurns = () =>
    asAdmin(db.url, (client) => client.query(`delete from ${QUEUE_SCHEMA}._private_jobs`));
  await forgetTurns();
  const long = { to: 8, perSlice: 1, pauseMs: 200 };
  const alone = newCall();
  const first = await startCount(exports, alone, long);
  // Requests of the same project schedule turns of the same queue.
  const second = await startCount(exports, alone, { to: 1 });
  await takeTurn(alone);
  for (const asyncActionId of [first, second]) {
    const { status } = await exports.asyncActions.getAsyncAction({ asyncActionId }, alone);
    expect(status).toBe(DONE);
  }
  await forgetTurns();
  await startCount(exports, newCall(), { to: 1 });
  const call = newCall();
  const asyncActionId = await startCount(exports, call, long);
  await takeTurn(call);
  const { status } = await exports.asyncActions.getAsyncAction({ asyncActionId }, call);
  expect(status).toBe(IN_PROGRESS);
  await startWorker();
  await reaches(exports, call, { asyncActionId, status: DONE });
});

test("counts the time of its slices, not that of other work", async () => {
  await startWorker();
  const call = newCall();
  const timeOf = async (input: Parameters<typeof startCount>[2]) => {
    const asyncActionId = await startCount(exports, call, input);
    return (await reaches(exports, call, { asyncActionId, status: DONE })).processingTime;
  };
  // Two slices.
  expect(await timeOf({ to: 6, pauseMs: 50 })).toBeGreaterThanOrEqual(100n);
  expect(await timeOf({ to: 6, pauseMs: 50, isWaiting: true })).toBe(0n);
});

test("fails a job whose error no repetition changes, with the reason", async () => {
  await startWorker();
  const call = newCall();
  const asyncActionId = await startCount(exports, call, { invalidAt: 4 });
  const failed = await reaches(exports, call, { asyncActionId, status: FAILED });
  expect(failed.result).toMatchObject({ done_count: 3, failed_count: 0 });
  expect(failed.result?.["message"]).toMatch(/: Item 4 is odd$/);
  const deleted = newCall({ project: { ...call.project, id: `${call.project.id}deleted` } });
  const ofDeleted = await startCount(exports, deleted);
  const { result } = await reaches(exports, deleted, { asyncActionId: ofDeleted, status: FAILED });
  expect(result?.["message"]).toBe("The project was deleted");
});

test("repeats a slice after an outage, and continues where it was", async () => {
  let outages = 2;
  const attempt = (item: number): void => {
    if (item === 3 && outages > 0) throw new Error(`outage ${(outages -= 1)}`);
  };
  await startWorker(attempt);
  const call = newCall();
  const asyncActionId = await startCount(exports, call);
  await reaches(exports, call, { asyncActionId, status: DONE });
  expect(await countedBy(asyncActionId)).toEqual(upTo(10));
  expect(errors.splice(0).map(({ cause }) => (cause as Error).message)).toEqual([
    "outage 1",
    "outage 0",
  ]);
});

test("a stopped worker leaves a checkpoint, from which another one continues", async () => {
  const call = newCall();
  const input = { to: 20, perSlice: 1, pauseMs: 20 };
  const stopping = await startWorker();
  const asyncActionId = await startCount(exports, call, input);
  await reaches(exports, call, { asyncActionId, status: IN_PROGRESS });
  await stopping[Symbol.asyncDispose]();
  const stopped = await countedBy(asyncActionId);
  expect(stopped.length).toBeLessThan(20);
  await startWorker();
  await reaches(exports, call, { asyncActionId, status: DONE });
  expect(await countedBy(asyncActionId)).toEqual(upTo(20));
});

test("continues the job of a killed process within seconds, each slice once", async () => {
  const call = newCall();
  const asyncActionId = await startCount(exports, call, { to: 20, perSlice: 1, pauseMs: 100 });
  const program = path.join(import.meta.dirname, "fixture/worker.ts");
  const child = spawn(process.execPath, [program, db.url], { stdio: "inherit" });
  const exited = once(child, "exit");
  await expect.poll(async () => (await countedBy(asyncActionId)).length).toBeGreaterThan(2);
  child.kill("SIGKILL");
  await exited;
  const killedAt = Date.now();
  const before = (await countedBy(asyncActionId)).length;
  expect(before).toBeLessThan(20);
  await startWorker();
  await expect.poll(async () => (await countedBy(asyncActionId)).length).toBeGreaterThan(before);
  expect(Date.now() - killedAt).toBeLessThan(30_000);
  await reaches(exports, call, { asyncActionId, status: DONE });
  expect(await countedBy(asyncActionId)).toEqual(upTo(20));
});

test("a worker whose first statement failed carries out jobs later", async () => {
  await asAdmin(db.url, async (client) => {
    await client.query("begin; lock table export_jobs._private_tasks in access exclusive mode");
    await startWorker();
    await expect.poll(() => errors.map(({ message }) => message)).toContain("cannot load due jobs");
    await client.query("commit");
  });
  const call = newCall();
  const asyncActionId = await startCount(exports, call);
  await reaches(exports, call, { asyncActionId, status: DONE });
  errors.length = 0;
});

test("a turn that fails is repeated, and ends neither the worker nor the process", async () => {
  let calls = 0;
  await exports.startWorker([countJob(db)], async (search) => {
    calls += 1;
    if (calls === 1) throw new Error("the replica of projects is unreachable");
    return anyProject(search);
  });
  const call = newCall();
  const asyncActionId = await startCount(exports, call);
  await reaches(exports, call, { asyncActionId, status: DONE });
  expect(errors.map(({ message }) => message).join()).toContain("is unreachable");
  expect(await countedBy(asyncActionId)).toEqual(upTo(10));
  errors.length = 0;
});

test("a worker that cannot store the end of a turn is replaced, and ends nothing else", async () => {
  await asAdmin(db.url, async (client) => {
    let calls = 0;
    await exports.startWorker([countJob(db)], async (search) => {
      calls += 1;
      if (calls > 1) return anyProject(search);
      await client.query("begin; lock table export_jobs._private_jobs in exclusive mode");
      throw new Error("the replica of projects is unreachable");
    });
    const call = newCall();
    const asyncActionId = await startCount(exports, call);
    await expect
      .poll(() => errors.map(({ message }) => message).join(), { timeout: 10_000 })
      .toContain("Failed to fail jobs");
    await client.query("commit");
    await reaches(exports, call, { asyncActionId, status: DONE });
    expect(await countedBy(asyncActionId)).toEqual(upTo(10));
  });
  errors.length = 0;
});

test("a process releases a lane whose turn a frozen process has ended for it", async () => {
  const call = newCall();
  const asyncActionId = await startCount(exports, call, { to: 1 });
  const key = `bulk:${call.project.id}`;
  const query = (text: string, values: readonly string[] = [key]) =>
    asAdmin(db.url, (client) => client.query(text, [...values]));
  const turn = `from ${QUEUE_SCHEMA}._private_jobs turn where turn.key = $1`;
  const takeOver = `locked_by = 'other', locked_at = now() - interval '1 minute'`;
  await query(`update ${QUEUE_SCHEMA}._private_job_queues lane set ${takeOver}
                where id = (select job_queue_id ${turn})`);
  await query(`update ${QUEUE_SCHEMA}._private_jobs set ${takeOver} where key = $1`);
  const isLaneLocked = async (): Promise<boolean> => {
    const { rows } = await query(
      `select exists (select from ${QUEUE_SCHEMA}._private_job_queues
                       where locked_by = $1) as locked`,
      ["other"],
    );
    return rows[0]?.locked as boolean;
  };
  const queue = { projectId: call.project.id, queue: "bulk" } as const;
  await releaseOrphanedLanes(db, "other", []);
  expect(await isLaneLocked()).toBe(true);

  await query(`delete ${turn}`);
  await scheduleTurn(db, queue);
  // The other process lives, so its locks are not those of a dead one.
  await keepWorkerAlive(db, "other");
  await releaseOrphanedLanes(db, "another", []);
  await releaseOrphanedLanes(db, "other", [queue]);
  expect(await isLaneLocked()).toBe(true);
  await releaseOrphanedLanes(db, "other", []);
  expect(await isLaneLocked()).toBe(false);
  await startWorker();
  await reaches(exports, call, { asyncActionId, status: DONE });
  await deleteWorker(db, "other");
});

test("a process releases a turn that was fetched for it and did not arrive", async () => {
  const call = newCall();
  const asyncActionId = await startCount(exports, call, { to: 1 });
  await keepWorkerAlive(db, "other");
  const key = `bulk:${call.project.id}`;
  const fetch = (age: string): Promise<string> =>
    asAdmin(db.url, async (client) => {
      const { rows } = await client.query<{ id: string }>(
        `with lane as (
           update ${QUEUE_SCHEMA}._private_job_queues
              set locked_by = 'other', locked_at = now() - $2::interval
            where id = (select job_queue_id from ${QUEUE_SCHEMA}._private_jobs where key = $1))
         update ${QUEUE_SCHEMA}._private_jobs
            set locked_by = 'other', locked_at = now() - $2::interval
          where key = $1 returning id::text`,
        [key, age],
      );
      return rows[0]?.id ?? "";
    });
  await fetch("1 second");
  expect(await findHeldTurns(db, "other")).toEqual([]);
  const turn = await fetch("1 minute");
  expect(await findHeldTurns(db, "other")).toEqual([turn]);
  expect(await findHeldTurns(db, "another")).toEqual([]);
  await releaseTurns(db, "another", [turn]);
  expect(await findHeldTurns(db, "other")).toEqual([turn]);
  await releaseTurns(db, "other", [turn]);
  expect(await findHeldTurns(db, "other")).toEqual([]);
  await releaseOrphanedLanes(db, "other", []);
  await startWorker();
  await reaches(exports, call, { asyncActionId, status: DONE });
  await deleteWorker(db, "other");
});

test("a process whose claim was taken over can write no checkpoint", async () => {
  const call = newCall();
  const started: Promise<unknown>[] = [];
  const takeOver = (item: number): void => {
    if (item === 3) {
      started.push(
        db.query("update job set run = run + 1 where project_id = $1", [call.project.id]),
      );
    }
  };
  await startWorker(takeOver);
  const asyncActionId = await startCount(exports, call, { pauseMs: 50 });
  await expect.poll(() => started.length).toBeGreaterThan(1);
  const { processed } = await exports.asyncActions.getAsyncAction({ asyncActionId }, call);
  expect(processed).toBe(3n);
});

test("a turn ends when another process has claimed its job, instead of claiming it again", async () => {
  const call = newCall();
  const asyncActionId = await startCount(exports, call, { pauseMs: 50 });
  const claims: Promise<unknown>[] = [];
  await takeTurn(call, () =>
    claims.push(db.query("update job set run = run + 1 where project_id = $1", [call.project.id])),
  );
  expect(claims).toHaveLength(1);
  const { status } = await exports.asyncActions.getAsyncAction({ asyncActionId }, call);
  expect(status).toBe(IN_PROGRESS);
});

test.each([
  { failure: "that is retried", error: new Error("broken") },
  { failure: "that is final", error: new ApiError("invalid_payload") },
])("a failure $failure changes nothing of a job that was taken over", async ({ error }) => {
  const call = newCall();
  const asyncActionId = await startCount(exports, call);
  let attempts = 0;
  let ends = 0;
  await takeTurn(
    call,
    async () => {
      attempts += 1;
      await db.query("update job set run = run + 1 where project_id = $1", [call.project.id]);
      throw error;
    },
    async () => void (ends += 1),
  );
  expect([attempts, ends]).toEqual([1, 0]);
  const { status } = await exports.asyncActions.getAsyncAction({ asyncActionId }, call);
  expect(status).toBe(IN_PROGRESS);
  errors.length = 0;
});
