import { type TimeRange, timeRangeConditions } from "@scrip/filters";
import type { ProjectQueryable, Queryable } from "@scrip/postgres";

import type { JobCounts, JobStatus, JsonObject } from "../domain/job.ts";
import { REPORT_UNTIL } from "./job-reports.ts";
import { type JobStart, startJob, type StartingCall } from "./jobs.ts";

/** A job of the queue `bulk`, as the API shows it. */
export type AsyncAction = JobCounts & {
  readonly id: string;
  readonly type: string;
  readonly status: JobStatus;
  /** Null in lists, and before the end. */
  readonly result: JsonObject | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly requestId: string;
  readonly processingMs: number;
  /** Of a bulk update that has ended; `expiresAt` may have passed. */
  readonly report: { readonly token: string; readonly expiresAt: number } | null;
};

/** Starts an async action (`aa_…`) with the commit of the transaction. */
export const startAction = (
  tx: Queryable,
  call: StartingCall,
  action: Omit<JobStart, "queue">,
): Promise<void> => startJob(tx, call, { ...action, queue: "bulk" });

/** Whether an async action of this type waits or runs. */
export async function isActionUnfinished(
  db: Queryable,
  projectId: string,
  type: string,
): Promise<boolean> {
  const { rows } = await db.query(
    `select from job
      where project_id = $1 and queue = 'bulk' and type = $2 and status in ('ENQUEUED', 'IN_PROGRESS')
      limit 1`,
    [projectId, type],
  );
  return rows.length > 0;
}

type Row = {
  readonly id: string;
  readonly type: string;
  readonly status: JobStatus;
  readonly result: JsonObject | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly request_id: string;
  readonly processing_ms: number;
  readonly processed: bigint;
  readonly failed: bigint;
  readonly total: bigint | null;
  readonly report_token: string | null;
  readonly report_until: Date | null;
};

const COLUMNS = `id, type, status, created_at, updated_at, request_id, processed + in_slice as processed, failed, total,
  report_token, ${REPORT_UNTIL} as report_until,
  coalesce(processing_ms, round(extract(epoch from finished_at - started_at) * 1000), 0)::float8 as processing_ms`;

export async function findAsyncAction(
  db: Queryable,
  projectId: string,
  id: string,
): Promise<AsyncAction | undefined> {
  const { rows } = await db.query<Row>(
    `select ${COLUMNS},
            case when result ? 'failed_count'
                 then result || jsonb_build_object('failed', coalesce(
                        (select jsonb_agg(item order by number) from job_failure
                          where job_failure.project_id = job.project_id and job_id = job.id), '[]'))
                 else result end as result
       from job
      where project_id = $1 and id = $2 and queue = 'bulk'`,
    [projectId, id],
  );
  return rows[0] && actionFromRow(rows[0]);
}

/**
 * Async actions without results, newest first. Those of one instant are all on one page, because the cursor is a time.
 */
export async function listAsyncActions(
  db: ProjectQueryable,
  {
    projectId,
    before,
    createdAt,
    limit,
  }: {
    readonly projectId: string;
    readonly before: Date | undefined;
    readonly createdAt: TimeRange | undefined;
    readonly limit: number;
  },
): Promise<{ readonly actions: readonly AsyncAction[]; readonly hasMore: boolean }> {
  const values: unknown[] = [projectId, before ?? null];
  const conditions = ["project_id = $1", "queue = 'bulk'"];
  conditions.push(...timeRangeConditions("created_at", createdAt, values));
  const where = conditions.join(" and ");
  const reads = db.inProject(projectId);
  const { rows } = await reads.query<Row>(
    `select ${COLUMNS}, null as result
       from job
      where ${where} and ($2::timestamptz is null or created_at < $2)
      order by created_at desc
      fetch first ${limit} rows with ties`,
    values,
  );
  const oldest = rows.at(-1)?.created_at;
  const { rows: older } = await reads.query(
    `select from job where ${where} and created_at < $2::timestamptz limit 1`,
    values.with(1, oldest ?? null),
  );
  return {
    actions: rows
      .map(actionFromRow)
      .toSorted((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1)),
    hasMore: older.length > 0,
  };
}

const actionFromRow = (row: Row): AsyncAction => ({
  id: row.id,
  type: row.type,
  status: row.status,
  result: row.result,
  createdAt: row.created_at.getTime(),
  updatedAt: row.updated_at.getTime(),
  requestId: row.request_id,
  processingMs: row.processing_ms,
  processed: row.processed,
  failed: row.failed,
  total: row.total,
  report:
    row.report_token === null || row.report_until === null
      ? null
      : { token: row.report_token, expiresAt: row.report_until.getTime() },
});
