import type { Queryable } from "@scrip/postgres";

import type { CampaignStatus } from "../domain/campaign.ts";
import {
  CAMPAIGN_COLUMNS,
  type CampaignRecord,
  type CampaignRow,
  campaignFromRow,
  LOCK_SECONDS,
} from "./campaigns.ts";

/** A lock across services: columns `turn` and `turn_ends_at` of the campaign (README.md#campaign-lock). */
export type CampaignLock = {
  readonly projectId: string;
  readonly campaignId: string;
  readonly token: string;
};

/** Locks a campaign and returns its current state, or undefined while another change holds the lock. */
export async function tryAcquireCampaignLock(
  db: Queryable,
  { projectId, campaignId, token }: CampaignLock,
): Promise<CampaignRecord | undefined> {
  const { rows } = await db.query<CampaignRow>(
    `with p as (
       update campaign
          set turn = $3, turn_ends_at = now() + make_interval(secs => ${LOCK_SECONDS})
        where project_id = $1 and id = $2 and deleted_at is null
          and (turn is null or turn = $3 or turn_ends_at < now())
       returning *
     )
     select ${CAMPAIGN_COLUMNS}
       from p
       left join category c on c.project_id = p.project_id and c.id = p.category_id`,
    [projectId, campaignId, token],
  );
  return rows[0] && campaignFromRow(rows[0]);
}

export type CampaignLockRelease = {
  readonly status: CampaignStatus;
  readonly createdVouchers: number;
};

/**
 * If the lock has expired, another change may hold it, which then keeps it; created vouchers are counted in any case.
 * While jobs of the campaign wait, the jobs determine its statuses.
 */
export async function releaseCampaignLock(
  db: Queryable,
  { projectId, campaignId, token }: CampaignLock,
  { status, createdVouchers }: CampaignLockRelease,
): Promise<void> {
  await db.query(
    `update campaign
        set turn = case when turn = $3 then null else turn end,
            creation_status = case when waiting.jobs then creation_status else $4 end,
            vouchers_generation_status =
              case when waiting.jobs then vouchers_generation_status else $4 end,
            vouchers_count = vouchers_count + $5
       from (select exists (
                      select from campaign_job
                       where project_id = $1 and campaign_id = $2 and status = 'PENDING') as jobs
            ) waiting
      where project_id = $1 and id = $2`,
    [projectId, campaignId, token, status, createdVouchers],
  );
}

/** Sets the status that concurrent readers of a locked campaign see. */
export async function setCampaignStatus(
  tx: Queryable,
  { projectId, campaignId }: CampaignLock,
  status: CampaignStatus,
): Promise<void> {
  await tx.query(
    `update campaign
        set creation_status = $3, vouchers_generation_status = $3
      where project_id = $1 and id = $2`,
    [projectId, campaignId, status],
  );
}
