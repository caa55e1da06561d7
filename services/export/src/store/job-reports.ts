import type { Queryable } from "@scrip/postgres";

/** Reports are retained for a day after the end of their job. */
const RETENTION = "24 hours";

/** SQL of the time until which the report of a job that has ended can be downloaded. */
export const REPORT_UNTIL = `finished_at + interval '${RETENTION}'`;

export type JobReport = {
  readonly projectId: string;
  readonly jobId: string;
  readonly token: string;
  /** In bytes; null: the job has not ended, or the report expired. */
  readonly size: number | null;
};

/** By the id of the job alone: a link does not name the project. */
export async function findReport(db: Queryable, jobId: string): Promise<JobReport | undefined> {
  const { rows } = await db.query<{ project_id: string; token: string; size: number | null }>(
    `select project_id, report_token as token,
            case when ${REPORT_UNTIL} > clock_timestamp()
                 then (select coalesce(sum(octet_length(data)), 0)::float8 from job_report part
                        where part.project_id = job.project_id and part.job_id = job.id) end as size
       from job where id = $1 and report_token is not null`,
    [jobId],
  );
  const [row] = rows;
  return row && { projectId: row.project_id, jobId, token: row.token, size: row.size };
}

const PARTS_PER_READ = 20;

/** Bytes `first` to `last` of a report, both inclusive. */
export async function* readReport(
  db: Queryable,
  { projectId, jobId }: Pick<JobReport, "projectId" | "jobId">,
  { first, last }: { readonly first: number; readonly last: number },
): AsyncIterable<Uint8Array> {
  let start = 0;
  let after = -1n;
  for (;;) {
    const { rows } = await db.query<{ number: bigint; data: string }>(
      `select number, data from job_report
        where project_id = $1 and job_id = $2 and number > $3
        order by number
        limit ${PARTS_PER_READ}`,
      [projectId, jobId, after],
    );
    for (const { number, data } of rows) {
      const bytes = Buffer.from(data);
      const part = bytes.subarray(Math.max(0, first - start), Math.max(0, last + 1 - start));
      if (part.length > 0) yield part;
      start += bytes.length;
      after = number;
    }
    if (rows.length < PARTS_PER_READ || start > last) return;
  }
}

/** Deletes the reports of jobs that ended more than a day ago. */
export async function deleteExpiredReports(db: Queryable): Promise<void> {
  await db.query(
    `delete from job_report r
      using job
      where job.project_id = r.project_id and job.id = r.job_id
        and ${REPORT_UNTIL} <= clock_timestamp()`,
  );
}

/**
 * Deletes the remaining data of ended imports and bulk updates of customers: reports, failures and the metadata of all items.
 * They name customers by source ids, which are no longer known when the customer is deleted. Repeatable.
 */
export async function eraseCustomerJobs(db: Queryable, projectId: string): Promise<void> {
  await db.query(
    `with ended as (
       select id from job
        where project_id = $1 and type like 'CUSTOMERS.%' and finished_at is not null
     ), stripped as (
       update job set report_token = null, input = input - 'metadata'
        where project_id = $1 and id in (select id from ended)
          and (report_token is not null or input ? 'metadata')
     ), failures as (
       delete from job_failure where project_id = $1 and job_id in (select id from ended)
     )
     delete from job_report where project_id = $1 and job_id in (select id from ended)`,
    [projectId],
  );
}
