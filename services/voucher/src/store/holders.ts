import { type Queryable, textArray, timestampArray } from "@scrip/postgres";

import type { Held } from "../domain/publication.ts";
import type { CampaignType, Metadata, VoucherType } from "../domain/voucher.ts";

export type HolderRole = "OWNER" | "REFERRER" | "REFEREE";

/** Who holds a voucher, and as what; instants are epoch milliseconds. */
export type Holder = {
  readonly projectId: string;
  readonly id: string;
  readonly voucherId: string;
  readonly customerId: string;
  readonly role: HolderRole;
  readonly campaignId: string | null;
  readonly campaignType: CampaignType | null;
  readonly voucherType: VoucherType;
  readonly metadata: Metadata;
  readonly publicationId: string;
  readonly createdAt: number;
};

export async function insertHolders(tx: Queryable, holders: readonly Holder[]): Promise<void> {
  await tx.query(
    `insert into redeemable_holder (project_id, id, voucher_id, customer_id, role, campaign_id,
            campaign_type, voucher_type, metadata, publication_id, created_at)
     select project_id, id, voucher_id, customer_id, role, campaign_id, campaign_type, voucher_type,
            metadata::jsonb, publication_id, created_at
       from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[],
                   $7::text[], $8::text[], $9::text[], $10::text[], $11::timestamptz[])
            as h (project_id, id, voucher_id, customer_id, role, campaign_id, campaign_type,
                  voucher_type, metadata, publication_id, created_at)`,
    [
      textArray(holders.map(({ projectId }) => projectId)),
      textArray(holders.map(({ id }) => id)),
      textArray(holders.map(({ voucherId }) => voucherId)),
      textArray(holders.map(({ customerId }) => customerId)),
      textArray(holders.map(({ role }) => role)),
      textArray(holders.map(({ campaignId }) => campaignId)),
      textArray(holders.map(({ campaignType }) => campaignType)),
      textArray(holders.map(({ voucherType }) => voucherType)),
      textArray(holders.map(({ metadata }) => JSON.stringify(metadata))),
      textArray(holders.map(({ publicationId }) => publicationId)),
      timestampArray(holders.map(({ createdAt }) => createdAt)),
    ],
  );
}

type HeldRow = { voucher_id: string; publication_id: string };

const fromHeldRow = (row: HeldRow | undefined): Held | null =>
  row === undefined ? null : { voucherId: row.voucher_id, publicationId: row.publication_id };

/** The first voucher of a campaign that a customer was given and still holds. */
export async function findHeldOfCampaign(
  db: Queryable,
  of: { readonly projectId: string; readonly campaignId: string; readonly customerId: string },
): Promise<Held | null> {
  const { rows } = await db.query<HeldRow>(
    `select h.voucher_id, h.publication_id
       from redeemable_holder h
       join voucher v on v.project_id = h.project_id and v.id = h.voucher_id
      where h.project_id = $1 and h.customer_id = $2 and h.campaign_id = $3
        and h.role <> 'REFEREE' and v.deleted_at is null
      order by h.id
      limit 1`,
    [of.projectId, of.customerId, of.campaignId],
  );
  return fromHeldRow(rows[0]);
}

/** How the voucher came to whom it belongs. */
export async function findHeldVoucher(
  db: Queryable,
  projectId: string,
  voucherId: string,
): Promise<Held | null> {
  const { rows } = await db.query<HeldRow>(
    `select voucher_id, publication_id
       from redeemable_holder
      where project_id = $1 and voucher_id = $2 and role <> 'REFEREE'`,
    [projectId, voucherId],
  );
  return fromHeldRow(rows[0]);
}
