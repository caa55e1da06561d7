import type { Queryable } from "@scrip/postgres";

import type { CampaignTerms } from "../domain/publication-decision.ts";

/** A campaign with its voucher template as a binary message. */
export type StoredCampaign = CampaignTerms & { readonly template: Uint8Array | null };

/** With the terms of a referral program as a binary message. */
export type NewCampaign = StoredCampaign & {
  readonly referralTerms: Uint8Array | null;
  /** Whether paid orders convert its referral codes. */
  readonly convertsOrders: boolean;
};

type Row = {
  campaign_id: string;
  name: string;
  type: CampaignTerms["type"];
  join_once: boolean;
  template: Uint8Array | null;
};

/** Creates or replaces what is stored about a campaign. */
export async function upsertCampaign(
  tx: Queryable,
  projectId: string,
  campaign: NewCampaign,
): Promise<void> {
  await tx.query(
    `insert into voucher_campaign as c
            (project_id, campaign_id, name, type, join_once, template, referral_terms,
             converts_orders)
     values ($1, $2, $3, $4, $5, $6, $7, $8)
         on conflict (project_id, campaign_id) do update
        set join_once = excluded.join_once, template = excluded.template,
            referral_terms = excluded.referral_terms, converts_orders = excluded.converts_orders
      where (c.join_once, c.template, c.referral_terms)
            is distinct from (excluded.join_once, excluded.template, excluded.referral_terms)`,
    [
      projectId,
      campaign.id,
      campaign.name,
      campaign.type,
      campaign.joinOnce,
      campaign.template && Buffer.from(campaign.template),
      campaign.referralTerms && Buffer.from(campaign.referralTerms),
      campaign.convertsOrders,
    ],
  );
}

/** Prevents the deletion of a campaign until the transaction ends; false if it was deleted. */
export async function lockLiveCampaign(
  tx: Queryable,
  projectId: string,
  campaignId: string,
): Promise<boolean> {
  const { rows } = await tx.query(
    `select 1 as live
       from voucher_campaign
      where project_id = $1 and campaign_id = $2 and deleted_at is null
        for share`,
    [projectId, campaignId],
  );
  return rows.length === 1;
}

/** Marks a campaign as deleted, after waiting for transactions that create its vouchers. */
export async function markCampaignDeleted(
  tx: Queryable,
  campaign: { readonly projectId: string; readonly campaignId: string; readonly at: number },
): Promise<void> {
  await tx.query(
    `update voucher_campaign
        set deleted_at = $3
      where project_id = $1 and campaign_id = $2 and deleted_at is null`,
    [campaign.projectId, campaign.campaignId, new Date(campaign.at)],
  );
}

/** Stores the settings of a campaign that its other updates leave as they are; absent ones stay. */
export async function updateCampaignSettings(
  tx: Queryable,
  projectId: string,
  {
    campaignId,
    active,
    referralTiers,
  }: {
    readonly campaignId: string;
    readonly active: boolean | undefined;
    readonly referralTiers: Uint8Array | undefined;
  },
): Promise<void> {
  await tx.query(
    `update voucher_campaign
        set active = coalesce($3, active), referral_tiers = coalesce($4, referral_tiers)
      where project_id = $1 and campaign_id = $2`,
    [projectId, campaignId, active, referralTiers && Buffer.from(referralTiers)],
  );
}

/** Whether a campaign is enabled; unknown ones are not. */
export async function isCampaignActive(
  db: Queryable,
  projectId: string,
  campaignId: string,
): Promise<boolean> {
  return (await findDisabledCampaigns(db, projectId, [campaignId])).size === 0;
}

/** Those of the campaigns that are disabled. */
export async function findDisabledCampaigns(
  db: Queryable,
  projectId: string,
  campaignIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ campaign_id: string }>(
    `select campaign_id
       from voucher_campaign
      where project_id = $1 and campaign_id = any($2::text[]) and not active`,
    [projectId, campaignIds],
  );
  return new Set(rows.map(({ campaign_id: id }) => id));
}

/** By id, or by exact name: the newest campaign with that name. */
export async function findCampaign(
  db: Queryable,
  projectId: string,
  idOrName: string,
): Promise<StoredCampaign | undefined> {
  const { rows } = await db.query<Row>(
    `select campaign_id, name, type, join_once, template
       from voucher_campaign
      where project_id = $1 and (campaign_id = $2 or name = $2) and deleted_at is null
      order by campaign_id = $2 desc, campaign_id desc
      limit 1`,
    [projectId, idOrName],
  );
  const row = rows[0];
  return (
    row && {
      id: row.campaign_id,
      name: row.name,
      type: row.type,
      joinOnce: row.join_once,
      template: row.template,
    }
  );
}

/** Locks the membership of a customer in a campaign, so that they cannot join twice concurrently. */
export async function lockMembership(
  tx: Queryable,
  membership: {
    readonly projectId: string;
    readonly campaignId: string;
    readonly customerId: string;
  },
): Promise<void> {
  const values = [membership.projectId, membership.campaignId, membership.customerId];
  await tx.query(
    `insert into campaign_customer (project_id, campaign_id, customer_id)
     values ($1, $2, $3)
         on conflict do nothing`,
    values,
  );
  await tx.query(
    `select 1 as held
       from campaign_customer
      where project_id = $1 and campaign_id = $2 and customer_id = $3
        for no key update`,
    values,
  );
}
