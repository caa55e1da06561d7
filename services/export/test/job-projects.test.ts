import { ApiError } from "@scrip/errors";
import { AsyncActionStatus } from "@scrip/proto/scrip/export/v1/async_actions_pb";
import type { Call, FindProject } from "@scrip/rpc";
import { expect, test } from "vitest";

import { MAX_ATTEMPTS } from "../src/domain/job.ts";
import { runTurn } from "../src/jobs/run-turn.ts";
import { newCall, reaches, startCount } from "./builders.ts";
import { startCounting } from "./counting.ts";
import { anyProject } from "./deps.ts";
import { COUNT, countJob } from "./fixture/count-job.ts";

const { DONE, FAILED } = AsyncActionStatus;

const exports = await startCounting();
const { db, errors } = exports;

test("a job waits for a project whose event has not arrived", async () => {
  let searches = 0;
  await exports.startWorker([countJob(db)], (search) => {
    searches += 1;
    return searches > 2 ? anyProject(search) : undefined;
  });
  const call = newCall();
  const asyncActionId = await startCount(exports, call);
  const done = await reaches(exports, call, { asyncActionId, status: DONE });
  expect([done.processed, searches]).toEqual([10n, 6]);
});

test("a job waits for the version of the project that its request has seen", async () => {
  const clock = Date.UTC(2026, 2, 10, 12);
  const searched: (bigint | undefined)[] = [];
  await exports.startWorker([countJob(db)], ({ projectId, version }) => {
    searched.push(version);
    // The wait for the change was in vain, once.
    const isLate = searched.length === 1;
    const project = { id: projectId, timeZone: "UTC", caseSensitiveCodes: true };
    return {
      project: { ...project, version: isLate ? 6n : 7n },
      sandboxNow: isLate ? null : clock,
      deleted: false,
    };
  });
  const { project, ...rest } = newCall({ now: clock });
  const call = { ...rest, project: { ...project, version: 7n } };
  const asyncActionId = await startCount(exports, call, { to: 1 });
  const done = await reaches(exports, call, { asyncActionId, status: DONE });
  expect(searched).toEqual([7n, 7n]);
  expect(done.updatedAt).toMatchObject({ seconds: BigInt(clock / 1_000) });

  const earlier = await startCount(exports, { ...rest, project }, { to: 1 });
  await reaches(exports, call, { asyncActionId: earlier, status: DONE });
  expect(searched).toEqual([7n, 7n, undefined]);
});

/** One turn of a job that has waited for its project almost as long as it may. */
async function takeLastTurn(call: Call, findProject: FindProject) {
  const asyncActionId = await startCount(exports, call);
  let ends = 0;
  const onFailed = async () => {
    ends += 1;
    throw new ApiError("not_found");
  };
  await db.query("update job set attempts = $2 where project_id = $1", [
    call.project.id,
    MAX_ATTEMPTS - 1,
  ]);
  await runTurn(
    {
      db,
      definitions: new Map([[COUNT, { ...countJob(db), onFailed }]]),
      findProject,
      onError: (error) => void errors.push(error),
    },
    { projectId: call.project.id, queue: "bulk" },
    new AbortController().signal,
  );
  const { status } = await exports.asyncActions.getAsyncAction({ asyncActionId }, call);
  return { status, ends, reported: errors.splice(0).map(({ message }) => message) };
}

test("a job runs with the project as it is known when a change of it never arrives", async () => {
  const { project, ...rest } = newCall();
  const call = { ...rest, project: { ...project, version: 7n } };
  const ended = await takeLastTurn(call, ({ projectId }) => ({
    project: { id: projectId, version: 6n, timeZone: "UTC", caseSensitiveCodes: true },
    sandboxNow: null,
    deleted: false,
  }));
  expect(ended).toMatchObject({ status: DONE, ends: 0 });
  expect(ended.reported).toEqual([expect.stringContaining("7 has not arrived")]);
});

test("a job of an unknown project runs its clean-up, and fails", async () => {
  const ended = await takeLastTurn(newCall(), () => undefined);
  expect(ended).toMatchObject({ status: FAILED, ends: 1 });
  expect(ended.reported).toEqual([expect.stringContaining("clean-up after failed job")]);
});
