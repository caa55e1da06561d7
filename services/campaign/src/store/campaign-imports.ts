import type { Queryable } from "@scrip/postgres";

export type CampaignImport = {
  readonly projectId: string;
  readonly campaignId: string;
  readonly importId: string;
};

/*
 * The row of the campaign is locked before the foreign key is checked: a campaign that is deleted permanently at the same
 * time is unknown then, instead of a violation.
 */

/** Announces an import that will run or runs; changes nothing if it has ended, or the campaign was deleted permanently. */
export async function beginImport(
  db: Queryable,
  { projectId, campaignId, importId }: CampaignImport,
): Promise<void> {
  await db.query(
    `insert into campaign_import (project_id, campaign_id, id)
     select project_id, id, $3 from campaign where project_id = $1 and id = $2
        for key share
         on conflict (project_id, campaign_id, id) do nothing`,
    [projectId, campaignId, importId],
  );
}

/** Longer than the announcement of an import that has not ended can take. */
const RETENTION = "1 hour";

/** Ends an import, and deletes the rows of imports of the campaign that ended long ago. */
export async function endImport(
  db: Queryable,
  { projectId, campaignId, importId }: CampaignImport,
): Promise<void> {
  await db.query(
    `with expired as (
       delete from campaign_import
        where project_id = $1 and campaign_id = $2 and id <> $3
          and ended_at < now() - interval '${RETENTION}'
     )
     insert into campaign_import (project_id, campaign_id, id, ended_at)
     select project_id, id, $3, now() from campaign where project_id = $1 and id = $2
        for key share
         on conflict (project_id, campaign_id, id)
         do update set ended_at = coalesce(campaign_import.ended_at, excluded.ended_at)`,
    [projectId, campaignId, importId],
  );
}

/** Whether an import into `campaign p` waits or runs. */
const IS_IMPORTING = `exists (
  select from campaign_import i
   where i.project_id = p.project_id and i.campaign_id = p.id and i.ended_at is null)`;

/** `vouchers_generation_status` of `campaign p`: that of its jobs, and of imports while there is no job. */
export const GENERATION_STATUS = `case when p.vouchers_generation_status = 'DONE' and ${IS_IMPORTING}
  then 'IN_PROGRESS' else p.vouchers_generation_status end`;
