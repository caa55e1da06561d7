import { batchOf, buildStatement, column, type Queryable } from "@scrip/postgres";

import type { EarlierPublication } from "../domain/join-once.ts";
import type { CampaignType, Metadata, VoucherType } from "../domain/voucher.ts";

export type HolderRole = "OWNER" | "REFERRER" | "REFEREE";

/** A holder of a voucher and their role; instants are epoch milliseconds. */
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
  await tx.query(insertStatement({ holders }));
}

const insertStatement = buildStatement({
  parts: {
    holders: batchOf<Holder>({
      project_id: column.text(({ projectId }) => projectId),
      id: column.text(({ id }) => id),
      voucher_id: column.text(({ voucherId }) => voucherId),
      customer_id: column.text(({ customerId }) => customerId),
      role: column.text(({ role }) => role),
      campaign_id: column.text(({ campaignId }) => campaignId),
      campaign_type: column.text(({ campaignType }) => campaignType),
      voucher_type: column.text(({ voucherType }) => voucherType),
      metadata: column.json(({ metadata }) => JSON.stringify(metadata)),
      publication_id: column.text(({ publicationId }) => publicationId),
      created_at: column.timestamp(({ createdAt }) => createdAt),
    }),
  },
  text: ({ holders }) => `
    insert into redeemable_holder (${holders.columns})
    select ${holders.columns} from ${holders.rows("one")}`,
});

type HeldRow = { voucher_id: string; publication_id: string };

const earlierFromRow = (row: HeldRow | undefined): EarlierPublication | null =>
  row === undefined ? null : { voucherId: row.voucher_id, publicationId: row.publication_id };

/** The oldest voucher of a campaign that a customer holds. */
export async function findHoldingInCampaign(
  db: Queryable,
  of: { readonly projectId: string; readonly campaignId: string; readonly customerId: string },
): Promise<EarlierPublication | null> {
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
  return earlierFromRow(rows[0]);
}

/** The publication that assigned the voucher to its holder. */
export async function findHolding(
  db: Queryable,
  projectId: string,
  voucherId: string,
): Promise<EarlierPublication | null> {
  const { rows } = await db.query<HeldRow>(
    `select voucher_id, publication_id
       from redeemable_holder
      where project_id = $1 and voucher_id = $2 and role <> 'REFEREE'`,
    [projectId, voucherId],
  );
  return earlierFromRow(rows[0]);
}
