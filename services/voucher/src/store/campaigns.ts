import type { Queryable } from "@scrip/postgres";

import type { CampaignTerms } from "../domain/publication-decision.ts";

/** A campaign with its voucher template as a binary message. */
export type StoredCampaign = CampaignTerms & { readonly template: Uint8Array | null };

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
  campaign: StoredCampaign,
): Promise<void> {
  await tx.query(
    `insert into voucher_campaign (project_id, campaign_id, name, type, join_once, template)
     values ($1, $2, $3, $4, $5, $6)
         on conflict (project_id, campaign_id) do update
        set join_once = excluded.join_once, template = excluded.template
      where (voucher_campaign.join_once, voucher_campaign.template)
            is distinct from (excluded.join_once, excluded.template)`,
    [
      projectId,
      campaign.id,
      campaign.name,
      campaign.type,
      campaign.joinOnce,
      campaign.template && Buffer.from(campaign.template),
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
