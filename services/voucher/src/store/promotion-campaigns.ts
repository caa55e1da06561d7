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
