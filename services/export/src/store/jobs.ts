import type { Queryable } from "@scrip/postgres";
import type { Call } from "@scrip/rpc";

import type { JobCounts, JsonObject, JsonValue, QueueName } from "../domain/job.ts";
import { type ProjectQueue, scheduleTurn } from "./turns.ts";

export type JobStart = {
  readonly id: string;
  readonly queue: QueueName;
  readonly type: string;
  /** Stored as JSON; large inputs belong in a table of their own. */
  readonly input: JsonValue;
  /** Number of items, if known. */
  readonly total?: number;
  /** Token of the link to its report; only jobs that write one have it. */
  readonly reportToken?: string | undefined;
};

/** The request that starts a job. */
export type StartingCall = Pick<Call, "project" | "requestId" | "now">;

/** Starts a job with the commit of the transaction; a job that has been started is not started again. */
export async function startJob(
  tx: Queryable,
  { project, requestId, now }: StartingCall,
  { id, queue, type, input, total, reportToken }: JobStart,
): Promise<void> {
  await tx.query(
    `insert into job
            (project_id, id, queue, type, request_id, input, total, created_at, updated_at, report_token,
             project_version)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9, $10)
         on conflict (project_id, id) do nothing`,
    [
      project.id,
      id,
      queue,
      type,
      requestId,
      JSON.stringify(input),
      total ?? null,
      new Date(now),
      reportToken ?? null,
      project.version ?? null,
    ],
  );
  await scheduleTurn(tx, { projectId: project.id, queue });
}

/** A job that this process carries out, as of its last checkpoint. */
export type ClaimedJob = ProjectQueue &
  JobCounts & {
    readonly id: string;
    readonly type: string;
    readonly requestId: string;
    /** The version of the project that the starting request has seen; null for jobs of earlier releases. */
    readonly projectVersion: bigint | null;
    readonly input: JsonValue;
    readonly position: JsonValue;
    readonly slices: bigint;
    /** Only the latest claim of a job may write checkpoints. */
    readonly run: bigint;
    /** Claims since the last checkpoint, with this one. */
    readonly attempts: number;
    /** Since the first pause of its next slice; 0: it has not paused. */
    readonly pausedMs: number;
    /** Since an owner first rejected its next slice because it had too much to do; 0: none has. */
    readonly busyMs: number;
  };

type HeadRow = { readonly id: string; readonly retry_at: Date | null; readonly due: boolean };

type ClaimedRow = {
  readonly id: string;
  readonly type: string;
  readonly request_id: string;
  readonly project_version: bigint | null;
  readonly input: JsonValue;
  readonly position: JsonValue;
  readonly slices: bigint;
  readonly processed: bigint;
  readonly failed: bigint;
  readonly total: bigint | null;
  readonly run: bigint;
  readonly attempts: number;
  readonly paused_ms: number;
  readonly busy_ms: number;
};

/** SQL: the order in which jobs are due. Exports only read, so one that waits for a busy owner lets later ones go first. */
const TURN: Readonly<Record<QueueName, string>> = {
  bulk: "enqueued_at, id",
  exports: `case when busy_since is not null and retry_at > clock_timestamp() then retry_at end nulls first, enqueued_at, id`,
};

/** Claims the oldest unfinished job of the queue, unless it waits for its next attempt. */
export async function claimJob(
  db: Queryable,
  { projectId, queue }: ProjectQueue,
): Promise<ClaimedJob | { readonly waitsUntil: Date } | undefined> {
  const { rows } = await db.query<HeadRow>({
    name: `head_of_queue_${queue}`,
    text: `select id, retry_at, (retry_at is null or retry_at <= clock_timestamp()) as due
             from job
            where project_id = $1 and queue = $2 and status in ('ENQUEUED', 'IN_PROGRESS')
            order by ${TURN[queue]}
            limit 1`,
    values: [projectId, queue],
  });
  const head = rows[0];
  if (head === undefined) return undefined;
  if (!head.due && head.retry_at !== null) return { waitsUntil: head.retry_at };
  const { rows: claimed } = await db.query<ClaimedRow>({
    name: "claim_job",
    text: `update job
              set status = 'IN_PROGRESS', run = run + 1, attempts = attempts + 1, in_slice = 0,
                  started_at = coalesce(started_at, clock_timestamp())
            where project_id = $1 and id = $2 and status in ('ENQUEUED', 'IN_PROGRESS')
           returning id, type, request_id, project_version, input, position, slices, processed, failed, total,
                  run, attempts,
                  coalesce(extract(epoch from clock_timestamp() - paused_since) * 1000, 0)::float8 as paused_ms,
                  coalesce(extract(epoch from clock_timestamp() - busy_since) * 1000, 0)::float8 as busy_ms`,
    values: [projectId, head.id],
  });
  const row = claimed[0];
  if (row === undefined) return undefined;
  const {
    request_id: requestId,
    project_version: projectVersion,
    paused_ms: pausedMs,
    busy_ms: busyMs,
    ...rest
  } = row;
  return { ...rest, projectId, queue, requestId, projectVersion, pausedMs, busyMs };
}

export type Checkpoint = {
  readonly position: JsonValue;
  /** Items of this slice. */
  readonly processed: bigint;
  readonly failures: readonly JsonObject[];
  readonly total: bigint | null;
  /** A part of the report; null: none. */
  readonly report: string | null;
  /** Null: the job goes on. */
  readonly result: JsonObject | null;
  /** Of this slice. */
  readonly processingMs: number;
  readonly at: Date;
};

/** Failures of a job that are stored; further ones are counted. */
const MAX_FAILURES = 10_000;

/** Stores the checkpoint of a slice; returns whether the claim still holds. The last slice stores the result too. */
export async function saveCheckpoint(
  db: Queryable,
  { projectId, id, run }: Held,
  checkpoint: Checkpoint,
): Promise<boolean> {
  const { rows } = await db.query({
    name: "save_checkpoint",
    text: `with saved as (
             update job
                set position = $4, slices = slices + 1, processed = processed + $5, in_slice = 0,
                    failed = failed + jsonb_array_length($6), total = $7, attempts = 0, retry_at = null,
                    paused_since = null, busy_since = null, last_error = null, result = $8, updated_at = $9,
                    processing_ms = coalesce(processing_ms, 0) + $11,
                    status = case when $8::jsonb is null then status else 'DONE' end,
                    finished_at = case when $8::jsonb is null then null else clock_timestamp() end
              where project_id = $1 and id = $2 and run = $3 and status = 'IN_PROGRESS'
             returning project_id, id, slices, failed - jsonb_array_length($6) as before),
           failures as (
             insert into job_failure (project_id, job_id, number, item)
             select saved.project_id, saved.id, saved.before + failure.number, failure.item
               from saved, jsonb_array_elements($6) with ordinality as failure (item, number)
              where saved.before + failure.number <= ${MAX_FAILURES}),
           reported as (
             insert into job_report (project_id, job_id, number, data)
             select project_id, id, slices, $10 from saved where $10::text is not null)
           select from saved`,
    values: [
      projectId,
      id,
      run,
      JSON.stringify(checkpoint.position),
      checkpoint.processed,
      JSON.stringify(checkpoint.failures),
      checkpoint.total,
      checkpoint.result && JSON.stringify(checkpoint.result),
      checkpoint.at,
      checkpoint.report,
      checkpoint.processingMs,
    ],
  });
  return rows.length === 1;
}

/** What a process has claimed. It loses the claim when another process claims the job. */
type Held = Pick<ClaimedJob, "projectId" | "id" | "run">;

/** Changes a job if the claim still holds; returns whether it did. `set` has parameters from `$4` on. */
async function updateHeld(
  db: Queryable,
  { projectId, id, run }: Held,
  { set, values }: { readonly set: string; readonly values: readonly unknown[] },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update job
        set ${set}
      where project_id = $1 and id = $2 and run = $3 and status = 'IN_PROGRESS'`,
    [projectId, id, run, ...values],
  );
  return rowCount === 1;
}

/** Ends a job that cannot be carried out; returns whether the claim still held. */
export const failJob = (
  db: Queryable,
  job: Held,
  { error, result, at }: { readonly error: string; readonly result: JsonObject; readonly at: Date },
): Promise<boolean> =>
  updateHeld(db, job, {
    set: `status = 'FAILED', last_error = $4, result = $5, updated_at = $6,
          processing_ms = coalesce(processing_ms, 0), finished_at = clock_timestamp(), retry_at = null`,
    values: [error, JSON.stringify(result), at],
  });

/** Whether no other process has claimed the job since. */
export async function isJobHeld(db: Queryable, { projectId, id, run }: Held): Promise<boolean> {
  const { rowCount } = await db.query(
    `select from job
      where project_id = $1 and id = $2 and run = $3 and status = 'IN_PROGRESS'`,
    [projectId, id, run],
  );
  return rowCount === 1;
}

/** Leaves the job for a later attempt; the jobs behind it wait. Returns whether the claim still held. */
export const postponeJob = (
  db: Queryable,
  job: Held,
  { error, pauseMs }: { readonly error: string; readonly pauseMs: number },
): Promise<boolean> =>
  updateHeld(db, job, {
    set: "last_error = $4, retry_at = clock_timestamp() + $5 * interval '1 millisecond'",
    values: [error, pauseMs],
  });

/** SQL: the claim is not an attempt, and its slice has done nothing. */
const WITHOUT_ATTEMPT = "attempts = greatest(0, attempts - 1), in_slice = 0";

/** Leaves the job for later, without an attempt; the jobs behind it wait. Returns whether the claim still held. */
export const pauseJob = (db: Queryable, job: Held, pauseMs: number): Promise<boolean> =>
  updateHeld(db, job, {
    set: `${WITHOUT_ATTEMPT}, retry_at = clock_timestamp() + $4 * interval '1 millisecond',
          paused_since = coalesce(paused_since, clock_timestamp())`,
    values: [pauseMs],
  });

/** Leaves the job until its owner has less to do, without an attempt. Returns whether the claim still held. */
export const awaitOwner = (
  db: Queryable,
  job: Held,
  { error, pauseMs }: { readonly error: string; readonly pauseMs: number },
): Promise<boolean> =>
  updateHeld(db, job, {
    set: `${WITHOUT_ATTEMPT}, last_error = $4,
          retry_at = clock_timestamp() + $5 * interval '1 millisecond',
          busy_since = coalesce(busy_since, clock_timestamp())`,
    values: [error, pauseMs],
  });

/** Stores that the job does not wait for a later version of its project, and starts its attempts anew. */
export const acceptVersion = (db: Queryable, job: Held, version: bigint): Promise<boolean> =>
  updateHeld(db, job, { set: "project_version = $4, attempts = 1", values: [version] });

/** Shows items of a slice that has not ended. */
export async function saveProgress(
  db: Queryable,
  { projectId, id, run }: Held,
  handled: number,
): Promise<void> {
  await db.query(
    `update job set in_slice = $4
      where project_id = $1 and id = $2 and run = $3 and status = 'IN_PROGRESS'`,
    [projectId, id, run, handled],
  );
}

/** Gives a job back whose slice was interrupted because the process stops. */
export async function releaseJob(db: Queryable, { projectId, id, run }: Held): Promise<void> {
  await db.query(
    `update job set ${WITHOUT_ATTEMPT}
      where project_id = $1 and id = $2 and run = $3 and status = 'IN_PROGRESS'`,
    [projectId, id, run],
  );
}
