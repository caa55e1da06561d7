import { column, columnNames, type ColumnTable, insertInto, type Queryable } from "@scrip/postgres";

import type { CampaignJob, CampaignJobType, CampaignStatuses } from "../domain/campaign-job.ts";
import type { CampaignStatus } from "../domain/campaign.ts";

const columns: ColumnTable<CampaignJob> = {
  campaign_id: column.text(({ campaignId }) => campaignId),
  type: column.text(({ type }) => type),
  request: column.bytea(({ request }) => request),
  permanent: column.bool(({ permanent }) => permanent),
  total: column.int8(({ total }) => total),
  done: column.int8(({ done }) => done),
  position: column.text(({ position }) => position),
  status: column.text(({ status }) => status),
  created_at: column.timestamp(({ createdAt }) => createdAt),
};

type Row = {
  readonly id: string;
  readonly campaign_id: string;
  readonly type: CampaignJobType;
  readonly request: Uint8Array | null;
  readonly permanent: boolean;
  readonly total: bigint;
  readonly done: bigint;
  readonly position: string;
  readonly status: CampaignJob["status"];
  readonly created_at: Date;
};

const insertStatement = insertInto("campaign_job", columns);

export async function insertJob(tx: Queryable, projectId: string, job: CampaignJob): Promise<void> {
  await tx.query(insertStatement(projectId, job));
}

const FROM_JOB = `select id, ${columnNames(columns)} from campaign_job where project_id = $1`;

export async function findJob(
  db: Queryable,
  projectId: string,
  id: string,
): Promise<CampaignJob | undefined> {
  const { rows } = await db.query<Row>(`${FROM_JOB} and id = $2`, [projectId, id]);
  return rows[0] && jobFromRow(rows[0]);
}

/** The pending job of the campaign that was requested first. */
export async function findFirstPending(
  db: Queryable,
  projectId: string,
  campaignId: string,
): Promise<CampaignJob | undefined> {
  const { rows } = await db.query<Row>(
    `${FROM_JOB} and campaign_id = $2 and status = 'PENDING' order by id limit 1`,
    [projectId, campaignId],
  );
  return rows[0] && jobFromRow(rows[0]);
}

/** The pending jobs of a deleted campaign have nothing left to do. */
export async function failPending(
  tx: Queryable,
  projectId: string,
  campaignId: string,
): Promise<void> {
  await tx.query(
    `update campaign_job set status = 'FAILED'
      where project_id = $1 and campaign_id = $2 and status = 'PENDING'`,
    [projectId, campaignId],
  );
}

const jobFromRow = (row: Row): CampaignJob => ({
  id: row.id,
  campaignId: row.campaign_id,
  type: row.type,
  request: row.request,
  permanent: row.permanent,
  total: row.total,
  done: row.done,
  position: row.position,
  status: row.status,
  createdAt: row.created_at.getTime(),
});

export type Advance = {
  readonly by: bigint;
  readonly position: string;
  readonly status: CampaignJob["status"];
};

/** Moves a job on from where it was read; false when another attempt of the slice has done so. */
export async function advanceJob(
  tx: Queryable,
  projectId: string,
  { job, by, position, status }: Advance & { readonly job: CampaignJob },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update campaign_job
        set done = done + $3, position = $4, status = $5
      where project_id = $1 and id = $2 and status = 'PENDING' and done = $6 and position = $7`,
    [projectId, job.id, by, position, status, job.done, job.position],
  );
  return rowCount === 1;
}

/** Vouchers that pending jobs of the campaign will still generate, and the type of the job that is next. */
export async function findPending(
  db: Queryable,
  projectId: string,
  campaignId: string,
): Promise<{ readonly toGenerate: bigint; readonly next: CampaignJobType | null }> {
  const { rows } = await db.query<{ to_generate: bigint; next: CampaignJobType | null }>(
    `select coalesce(sum(total - done) filter (where type = 'GENERATE'), 0)::int8 as to_generate,
            (array_agg(type order by id))[1] as next
       from campaign_job
      where project_id = $1 and campaign_id = $2 and status = 'PENDING'`,
    [projectId, campaignId],
  );
  return { toGenerate: rows[0]?.to_generate ?? 0n, next: rows[0]?.next ?? null };
}

/** Locks the row of a campaign, also of a deleted one, and returns its status and name. */
export async function lockStatus(
  tx: Queryable,
  projectId: string,
  campaignId: string,
): Promise<{ readonly creation: CampaignStatus; readonly name: string } | undefined> {
  const { rows } = await tx.query<{ creation_status: CampaignStatus; name: string }>(
    `select creation_status, name from campaign
      where project_id = $1 and id = $2
        for no key update`,
    [projectId, campaignId],
  );
  return rows[0] && { creation: rows[0].creation_status, name: rows[0].name };
}

export async function setStatuses(
  tx: Queryable,
  { projectId, campaignId }: { readonly projectId: string; readonly campaignId: string },
  { creation, generation }: CampaignStatuses,
): Promise<void> {
  await tx.query(
    `update campaign
        set creation_status = $3, vouchers_generation_status = $4
      where project_id = $1 and id = $2`,
    [projectId, campaignId, creation, generation],
  );
}

export async function addToVouchersCount(
  tx: Queryable,
  { projectId, campaignId }: { readonly projectId: string; readonly campaignId: string },
  by: bigint,
): Promise<void> {
  await tx.query(
    "update campaign set vouchers_count = vouchers_count + $3 where project_id = $1 and id = $2",
    [projectId, campaignId, by],
  );
}
