import { createHash } from "node:crypto";

import { currentTime, projectTime } from "@scrip/clock";
import { toErrorResponse } from "@scrip/errors";
import { finalErrorOf } from "@scrip/idempotency";
import type { Database } from "@scrip/postgres";
import { type Call, type FindProject, type ProjectState, REQUEST_DEADLINE_MS } from "@scrip/rpc";

import { CHANGE_ATTEMPTS, type JobCounts, MAX_ATTEMPTS, retryPauseMs } from "../domain/job.ts";
import {
  acceptVersion,
  awaitOwner,
  claimJob,
  type ClaimedJob,
  failJob,
  isJobHeld,
  pauseJob,
  postponeJob,
  releaseJob,
  saveCheckpoint,
  saveProgress,
} from "../store/jobs.ts";
import { isTurnWaiting, type ProjectQueue, scheduleTurn } from "../store/turns.ts";
import type { AnyJobDefinition, Slice, SliceOutcome } from "./job-definition.ts";

export type TurnTools = {
  readonly db: Database;
  readonly definitions: ReadonlyMap<string, AnyJobDefinition>;
  readonly findProject: FindProject;
  /** Called when a job has ended. */
  readonly onEnd?: (outcome: "done" | "failed") => void;
  readonly onError: (error: Error) => void;
};

/** Round-robin over projects: after this time, the queue of another project is next, if one waits. */
const TURN_MS = 1_000;

/** graphile-worker releases a turn that is older than four hours, although it runs. */
const LONGEST_TURN_MS = 60_000;

/**
 * Carries out jobs of a project's queue, in order, until another queue has waited for about a second. Ending a turn that
 * nobody waits for would cost time: graphile-worker starts the next one of the same queue with its next poll only. A turn
 * whose claim was taken over does not go on.
 */
export async function runTurn(
  tools: TurnTools,
  queue: ProjectQueue,
  signal: AbortSignal,
): Promise<void> {
  const endsAtLatest = performance.now() + LONGEST_TURN_MS;
  for (;;) {
    const end = await workForTurn(tools, queue, signal);
    if (end === "idle") return;
    const isLast = end === "lost" || signal.aborted || performance.now() >= endsAtLatest;
    if (isLast || (await isTurnWaiting(tools.db, queue))) break;
  }
  await scheduleTurn(tools.db, queue);
}

/** Carries out jobs for about a second. `idle`: none is due any more; `lost`: another process has claimed one. */
async function workForTurn(
  tools: TurnTools,
  queue: ProjectQueue,
  signal: AbortSignal,
): Promise<"busy" | "idle" | "lost"> {
  const endsAt = performance.now() + TURN_MS;
  const isOver = (): boolean => signal.aborted || performance.now() >= endsAt;
  while (!isOver()) {
    const claimed = await claimJob(tools.db, queue);
    if (claimed === undefined) return "idle";
    if ("waitsUntil" in claimed) {
      await scheduleTurn(tools.db, queue, claimed.waitsUntil);
      return "idle";
    }
    // Two processes that claim a job from each other would use up its attempts.
    if ((await runSlices(tools, claimed, { signal, isOver })) === "lost") return "lost";
  }
  return "busy";
}

type Turn = { readonly signal: AbortSignal; readonly isOver: () => boolean };

/** `lost`: another process has claimed the job. */
type SliceEnd = "over" | "lost";

/** Runs slices until the job or the turn ends, the job is postponed, or another process has claimed it. */
async function runSlices(
  tools: TurnTools,
  claimed: ClaimedJob,
  turn: Turn,
): Promise<ClaimedJob | SliceEnd> {
  let job: ClaimedJob | SliceEnd = claimed;
  do {
    job = await runSlice(tools, job, turn.signal);
  } while (typeof job !== "string" && !turn.isOver());
  return job;
}

/** Returns the job as of the new checkpoint, or why there is none. */
async function runSlice(
  tools: TurnTools,
  claimed: ClaimedJob,
  signal: AbortSignal,
): Promise<ClaimedJob | SliceEnd> {
  const found = await findState(tools, claimed, signal);
  if ("end" in found) return found.end;
  const { job, state } = found;
  const at = new Date(projectTime(state));
  const definition = tools.definitions.get(job.type);
  if (state.deleted || definition === undefined) {
    const error = definition === undefined ? `Unknown type ${job.type}` : "The project was deleted";
    return endAsFailed(tools, job, { error, at });
  }
  const slice = sliceOf(tools, job, { state, signal });
  try {
    if (job.attempts > MAX_ATTEMPTS)
      throw new Error("The process that ran the job ended repeatedly");
    const startedAt = performance.now();
    const outcome = await definition.slice(slice);
    if ("pauseMs" in outcome) return endOf(await pauseJob(tools.db, job, outcome.pauseMs));
    const elapsedMs = performance.now() - startedAt;
    return await checkpoint(tools, { job, definition, outcome, elapsedMs, at });
  } catch (error) {
    if (signal.aborted) {
      await releaseJob(tools.db, job);
      return "over";
    }
    const failure = { job, definition, slice, at, error };
    return isBusy(error, job) && job.busyMs < MAX_BUSY_MS
      ? waitForOwner(tools, failure)
      : handleFailure(tools, failure);
  }
}

/** An owner rejects the call because it has too much to do. */
const isBusy = (error: unknown, { requestId }: ClaimedJob): boolean =>
  toErrorResponse(error, requestId).error.key === "too_many_requests";

/** The job waits, which is not an attempt, longer and longer: the slice begins anew after each pause. */
async function waitForOwner(tools: TurnTools, { job, error }: Failure): Promise<SliceEnd> {
  const pauseMs = Math.min(Math.max(job.busyMs / 10, 5_000), 60_000);
  if (job.busyMs < REPORTED_BUSY_MS && job.busyMs + pauseMs >= REPORTED_BUSY_MS) {
    const text = `Job ${job.id} (${job.type}) waits for a service that has too much to do`;
    tools.onError(new Error(text, { cause: error }));
  }
  return endOf(await awaitOwner(tools.db, job, { error: reasonOf(error, job), pauseMs }));
}

/** Once in each long wait. */
const REPORTED_BUSY_MS = 60_000;

/** After that, it is a failure like others. An export occupies an owner for up to an hour. */
const MAX_BUSY_MS = 2 * 3_600_000;

/**
 * Loads the project in the version that the starting request has seen, or a later one, so that settings and clock are
 * not older. The event with that version may be late, after a crash by the lease of a consumer. The job waits for it,
 * but not forever.
 */
async function findState(
  tools: TurnTools,
  job: ClaimedJob,
  signal: AbortSignal,
): Promise<
  { readonly job: ClaimedJob; readonly state: ProjectState } | { readonly end: SliceEnd }
> {
  const version = job.projectVersion ?? undefined;
  const state = await tools.findProject({
    projectId: job.projectId,
    version,
    deadline: currentTime() + REQUEST_DEADLINE_MS,
  });
  const known = state?.project.version ?? 0n;
  if (state !== undefined && (version === undefined || known >= version)) return { job, state };
  if (state !== undefined && job.attempts >= CHANGE_ATTEMPTS) {
    const text = `Job ${job.id} (${job.type}) runs with version ${known} of project ${job.projectId}: ${version} has not arrived`;
    if (!(await acceptVersion(tools.db, job, known))) return { end: "lost" };
    tools.onError(new Error(text));
    return { job: { ...job, projectVersion: known, attempts: 1 }, state };
  }
  const error = "The project, as the request has seen it, is not known yet";
  if (job.attempts < MAX_ATTEMPTS) {
    const pauseMs = retryPauseMs(job.attempts);
    return { end: endOf(await postponeJob(tools.db, job, { error, pauseMs })) };
  }
  const slice = sliceOf(tools, job, { state: unknownProject(job), signal });
  const definition = tools.definitions.get(job.type);
  const at = new Date(currentTime());
  return { end: await giveUp(tools, { job, definition, slice, at, reason: error }) };
}

/** The owner of what the job works on may know the project: it reads the rest itself. */
const unknownProject = ({ projectId }: ClaimedJob): ProjectState => ({
  project: { id: projectId, timeZone: "UTC", caseSensitiveCodes: true },
  sandboxNow: null,
  deleted: false,
});

const endOf = (wasHeld: boolean): SliceEnd => (wasHeld ? "over" : "lost");

async function checkpoint(
  { db, onEnd }: TurnTools,
  {
    job,
    definition,
    outcome: { processed = 0, isWaiting = false, failures = [], report, total, next },
    elapsedMs,
    at,
  }: {
    readonly job: ClaimedJob;
    readonly definition: AnyJobDefinition;
    readonly outcome: SliceOutcome<never>;
    readonly elapsedMs: number;
    readonly at: Date;
  },
): Promise<ClaimedJob | SliceEnd> {
  const counts: JobCounts = {
    processed: job.processed + BigInt(processed),
    failed: job.failed + BigInt(failures.length),
    total: total === undefined ? job.total : BigInt(total),
  };
  const isHeld = await saveCheckpoint(db, job, {
    position: next,
    processed: BigInt(processed),
    failures,
    report: report ?? null,
    total: counts.total,
    result: next === null ? definition.result(counts) : null,
    // At least one, which shows that the job has run.
    processingMs: isWaiting ? 0 : Math.max(1, Math.round(elapsedMs)),
    at,
  });
  if (!isHeld) return "lost";
  if (next === null) {
    onEnd?.("done");
    return "over";
  }
  return {
    ...job,
    ...counts,
    position: next,
    slices: job.slices + 1n,
    attempts: 1,
    pausedMs: 0,
    busyMs: 0,
  };
}

/** Often enough for those who watch. */
const PROGRESS_EVERY_MS = 500;

function sliceOf(
  { db }: TurnTools,
  job: ClaimedJob,
  { state, signal }: { readonly state: ProjectState; readonly signal: AbortSignal },
): Slice<never, never> {
  const { id, processed, failed, total, position, pausedMs, input } = job;
  const now = projectTime(state);
  let shownAt = performance.now();
  const call = (step: string): Call => {
    const key = `${id}>${job.slices}>${step}`;
    return {
      project: state.project,
      requestId: job.requestId,
      deadline: currentTime() + REQUEST_DEADLINE_MS,
      now,
      caller: { side: "service", id: "export" },
      idempotency: { key, requestHash: createHash("sha256").update(key).digest() },
    };
  };
  return {
    id,
    project: state.project,
    processed,
    failed,
    total,
    pausedMs,
    signal,
    call,
    async progress(handled) {
      if (performance.now() - shownAt < PROGRESS_EVERY_MS) return;
      shownAt = performance.now();
      await saveProgress(db, job, handled);
    },
    // What the definition stored, as its types say.
    position: position as never,
    input: input as never,
  };
}

type Failure = {
  readonly job: ClaimedJob;
  readonly definition: AnyJobDefinition;
  readonly slice: Slice<never, never>;
  readonly at: Date;
  readonly error: unknown;
};

function reasonOf(error: unknown, { requestId }: ClaimedJob): string {
  const { message, details } = toErrorResponse(error, requestId).error;
  return details ? `${message}: ${details}` : message;
}

/** Outages are retried for some minutes; what no repetition can change ends the job. */
async function handleFailure(tools: TurnTools, { job, ...failure }: Failure): Promise<SliceEnd> {
  const { definition, slice, at, error } = failure;
  const final = finalErrorOf(error, job.requestId);
  const reason = reasonOf(error, job);
  if (final === undefined) {
    tools.onError(
      new Error(`Slice ${job.slices} of job ${job.id} (${job.type}) failed`, { cause: error }),
    );
  }
  if (final === undefined && job.attempts < MAX_ATTEMPTS) {
    const pauseMs = retryPauseMs(job.attempts);
    return endOf(await postponeJob(tools.db, job, { error: reason, pauseMs }));
  }
  return giveUp(tools, { job, definition, slice, at, reason });
}

/** Closes what the job works on, such as its import, and ends it as failed. */
async function giveUp(
  tools: TurnTools,
  {
    job,
    definition,
    slice,
    at,
    reason,
  }: Omit<Failure, "definition" | "error"> & {
    readonly definition: AnyJobDefinition | undefined;
    readonly reason: string;
  },
): Promise<SliceEnd> {
  if (definition?.onFailed !== undefined) {
    // Another process has claimed the job and continues it.
    if (!(await isJobHeld(tools.db, job))) return "lost";
    try {
      await definition.onFailed(slice, reason);
    } catch (error) {
      // An error that every retry would get must not prevent the end of this job and of those after it.
      if (finalErrorOf(error, job.requestId) === undefined) throw error;
      tools.onError(
        new Error(`The clean-up after failed job ${job.id} (${job.type}) failed`, {
          cause: error,
        }),
      );
    }
  }
  return endAsFailed(tools, job, { error: reason, at });
}

async function endAsFailed(
  { db, onEnd }: TurnTools,
  job: ClaimedJob,
  { error, at }: { readonly error: string; readonly at: Date },
): Promise<SliceEnd> {
  const wasHeld = await failJob(db, job, { error, result: failedResult(job, error), at });
  if (wasHeld) onEnd?.("failed");
  return endOf(wasHeld);
}

const failedResult = ({ processed, failed }: JobCounts, reason: string) => ({
  message: reason,
  done_count: Number(processed),
  failed_count: Number(failed),
});
