import { ApiError } from "@scrip/errors";
import { AsyncActionStatus } from "@scrip/proto/scrip/export/v1/async_actions_pb";
import { asAdmin } from "@scrip/testing";
import { expect, test } from "vitest";

import { newCall, reaches, startCount } from "./builders.ts";
import { startCounting } from "./counting.ts";
import { countJob } from "./fixture/count-job.ts";

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
  const asyncActionId = await startCount(exports, call, { to: 1 });
  const changeJob = (set: string) =>
    asAdmin(db.url, (client) =>
      client.query(`update export.job set ${set} where id = $1`, [asyncActionId]),
    );
  const attempt = async (item: () => void) => {
    await changeJob("retry_at = null");
    await takeTurnOf(countJob(db, item), call);
    const { rows } = await db.query<{ attempts: number; waits: boolean }>(
      "select attempts, retry_at is not null as waits from job where id = $1",
      [asyncActionId],
    );
    return rows[0];
  };
  const reject = () => {
    throw new ApiError("too_many_requests");
  };
  const reported = errors.length;
  for (let times = 0; times < 15; times += 1) {
    expect(await attempt(reject)).toEqual({ attempts: 0, waits: true });
  }
  expect(errors).toHaveLength(reported);
  await changeJob("paused_since = clock_timestamp() - interval '2 hours'");
  expect(await attempt(reject)).toEqual({ attempts: 1, waits: true });
  expect(errors.splice(reported)).toHaveLength(1);
  await attempt(() => {});
  await reaches(exports, call, { asyncActionId, status: DONE });
});
