import { crc32 } from "node:zlib";

import type { Queryable } from "@scrip/postgres";

import type { QueueName } from "../domain/job.ts";
import { QUEUE_SCHEMA } from "./queue-schema.ts";

/** The jobs of one queue of a project, which run one at a time. */
export type ProjectQueue = { readonly projectId: string; readonly queue: QueueName };

/** The task of graphile-worker that carries out jobs of a project's queue for a short time. */
export const TURN_TASK = "turn";

/**
 * A worker locks every queue that graphile-worker knows when it looks for work, so their number is bounded: the
 * projects share these.
 */
const LANES = 64;

const laneOf = ({ projectId, queue }: ProjectQueue): string =>
  `${queue}-${crc32(projectId) % LANES}`;

const keyOf = ({ projectId, queue }: ProjectQueue): string => `${queue}:${projectId}`;

/**
 * Ensures that the queue gets a turn, at `runAt` at the latest, or immediately. Takes effect with the transaction: a turn
 * that runs at this time is followed by another one.
 */
export async function scheduleTurn(
  db: Queryable,
  queue: ProjectQueue,
  runAt?: Date,
): Promise<void> {
  await db.query({
    name: "schedule_turn",
    // A turn at a time leaves a turn that is stored meanwhile as it is; an immediate one advances it, and keeps its place. One
    // that follows a running turn is behind those that wait.
    text: `select from ${QUEUE_SCHEMA}.add_job($1, $2::json, $3,
                   coalesce($4::timestamptz,
                            (select least(run_at, now()) from ${QUEUE_SCHEMA}.jobs where key = $5 and locked_at is null)),
                   job_key => $5, job_key_mode => $6)`,
    values: [
      TURN_TASK,
      JSON.stringify(queue),
      laneOf(queue),
      runAt ?? null,
      keyOf(queue),
      runAt === undefined ? "replace" : "preserve_run_at",
    ],
  });
}

/** Whether a turn of another queue is due, which this one keeps waiting. */
export async function isTurnWaiting(db: Queryable, queue: ProjectQueue): Promise<boolean> {
  const { rows } = await db.query<{ waits: boolean }>({
    name: "is_turn_waiting",
    text: `select exists (
                    select from ${QUEUE_SCHEMA}._private_jobs turn
                      join ${QUEUE_SCHEMA}._private_job_queues lane on lane.id = turn.job_queue_id
                     where turn.is_available and turn.run_at <= now() and turn.key <> $1
                       and (lane.is_available or lane.queue_name = $2)) as waits`,
    values: [keyOf(queue), laneOf(queue)],
  });
  return rows[0]?.waits ?? false;
}

/** Queues with work that is due and no turn, which a bug or a manual change may have removed. */
export async function findForgottenQueues(db: Queryable): Promise<readonly ProjectQueue[]> {
  const { rows } = await db.query<{ project_id: string; queue: QueueName }>(
    `select distinct project_id, queue
       from job
      where status in ('ENQUEUED', 'IN_PROGRESS') and (retry_at is null or retry_at <= now())
        and not exists (
              select from ${QUEUE_SCHEMA}.jobs turn
               where turn.key = queue || ':' || project_id
                 and (turn.locked_at is not null
                      or (turn.run_at <= now() and turn.attempts < turn.max_attempts)))
      limit 1000`,
  );
  return rows.map(({ project_id: projectId, queue }) => ({ projectId, queue }));
}

/** Seconds after which a process that was not seen counts as dead. */
const LEASE = "5 seconds";
const RETAIN_WORKERS = "1 hour";

/** The ids of the turns that this process has held for longer than a lease. */
export async function findHeldTurns(db: Queryable, workerId: string): Promise<readonly string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select id::text from ${QUEUE_SCHEMA}._private_jobs
      where locked_by = $1 and locked_at < statement_timestamp() - interval '${LEASE}'`,
    [workerId],
  );
  return rows.map(({ id }) => id);
}

/**
 * Releases turns that this process holds and does not run, because the connection broke when graphile-worker had
 * fetched them. It would keep them for hours.
 */
export async function releaseTurns(
  db: Queryable,
  workerId: string,
  turnIds: readonly string[],
): Promise<void> {
  if (turnIds.length === 0) return;
  await db.query(
    `update ${QUEUE_SCHEMA}._private_jobs set locked_by = null, locked_at = null
      where locked_by = $1 and id = any($2::bigint[])`,
    [workerId, turnIds],
  );
}

/**
 * Releases lanes that this process has locked without running one of their turns. graphile-worker ends a turn without
 * verifying which worker holds it: if a frozen process resumes and ends a turn that this process has taken over, this
 * process finds nothing to end, and the lane would stay locked for hours.
 */
export async function releaseOrphanedLanes(
  db: Queryable,
  workerId: string,
  running: readonly ProjectQueue[],
): Promise<void> {
  await db.query(
    `update ${QUEUE_SCHEMA}._private_job_queues lane
        set locked_by = null, locked_at = null
      where locked_by = $1 and queue_name <> all($2::text[])
        and locked_at < statement_timestamp() - interval '${LEASE}'
        and not exists (
              select from ${QUEUE_SCHEMA}._private_jobs turn
               where turn.job_queue_id = lane.id and turn.locked_at is not null)`,
    [workerId, running.map(laneOf)],
  );
}

/** Records that a process lives, and releases the turns of dead ones; returns whether a turn may be free that is due. */
export async function keepWorkerAlive(db: Queryable, workerId: string): Promise<boolean> {
  const { rows } = await db.query<{ dead: readonly string[] | null; due: boolean }>({
    name: "keep_worker_alive",
    text: `with alive as (
             insert into worker (id, seen_at) values ($1, clock_timestamp())
             on conflict (id) do update set seen_at = excluded.seen_at)
           select array_agg(distinct locked_by) as dead,
                  exists (select from ${QUEUE_SCHEMA}._private_jobs
                           where is_available and run_at <= now()) as due
             from (select locked_by, locked_at from ${QUEUE_SCHEMA}._private_jobs
                    where locked_at is not null
                    union all
                   select locked_by, locked_at from ${QUEUE_SCHEMA}._private_job_queues
                    where locked_at is not null) held
            where locked_by <> $1 and locked_at < clock_timestamp() - interval '${LEASE}'
              and not exists (
                    select from worker
                     where worker.id = held.locked_by
                       and seen_at > clock_timestamp() - interval '${LEASE}')`,
    values: [workerId],
  });
  const [row] = rows;
  const dead = row?.dead ?? [];
  if (dead.length > 0) {
    await db.query(`select ${QUEUE_SCHEMA}.force_unlock_workers($1::text[])`, [dead]);
  }
  return dead.length > 0 || row?.due === true;
}

/** Deletes the record of a process that stops, and of processes that ended without deleting theirs. */
export async function deleteWorker(db: Queryable, workerId: string): Promise<void> {
  await db.query(
    `delete from worker where id = $1 or seen_at < clock_timestamp() - interval '${RETAIN_WORKERS}'`,
    [workerId],
  );
}
