import type { Queryable } from "@scrip/postgres";

export type PromotionCampaign = {
  readonly projectId: string;
  readonly campaignId: string;
  readonly name: string;
};

/** Stores campaigns that are not stored yet. */
export async function insertPromotionCampaigns(
  db: Queryable,
  campaigns: readonly PromotionCampaign[],
): Promise<void> {
  await db.query(
    `insert into promotion_campaign (project_id, campaign_id, name)
     select * from unnest($1::text[], $2::text[], $3::text[])
         on conflict do nothing`,
    [
      campaigns.map(({ projectId }) => projectId),
      campaigns.map(({ campaignId }) => campaignId),
      campaigns.map(({ name }) => name),
    ],
  );
}

/** Marks those of the campaigns as deleted that are promotions. */
export async function markPromotionsDeleted(
  db: Queryable,
  campaigns: readonly Pick<PromotionCampaign, "projectId" | "campaignId">[],
): Promise<void> {
  await db.query(
    `update promotion_campaign p
        set deleted = true
       from unnest($1::text[], $2::text[]) as one (project_id, campaign_id)
      where p.project_id = one.project_id and p.campaign_id = one.campaign_id`,
    [campaigns.map(({ projectId }) => projectId), campaigns.map(({ campaignId }) => campaignId)],
  );
}

/** Whether a promotion has this id or exact name. */
export async function isPromotion(
  db: Queryable,
  projectId: string,
  idOrName: string,
): Promise<boolean> {
  const { rows } = await db.query(
    `select from promotion_campaign
      where project_id = $1 and (campaign_id = $2 or name = $2) and not deleted
      limit 1`,
    [projectId, idOrName],
  );
  return rows.length > 0;
}
