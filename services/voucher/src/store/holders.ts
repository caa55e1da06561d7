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
  /** Null for referees: only publications assign the other roles. */
  readonly publicationId: string | null;
  readonly createdAt: number;
};

/** A holder who was assigned by a publication. */
export type PublishedHolder = Holder & { readonly publicationId: string };

/** Inserts holders and returns the ids of the new ones: a customer holds a voucher in one role. */
export async function insertHolders(
  tx: Queryable,
  holders: readonly Holder[],
): Promise<ReadonlySet<string>> {
  const { rows } = await tx.query<{ id: string }>(insertStatement({ holders }));
  return new Set(rows.map(({ id }) => id));
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
    select ${holders.columns} from ${holders.rows("one")}
        on conflict (project_id, voucher_id, customer_id) do nothing
    returning id`,
});

/** Those of the customers who hold the voucher in any role. */
export async function findHolderCustomers(
  db: Queryable,
  of: {
    readonly projectId: string;
    readonly voucherId: string;
    readonly customerIds: readonly string[];
  },
): Promise<readonly string[]> {
  const { rows } = await db.query<{ customer_id: string }>(
    `select customer_id
       from redeemable_holder
      where project_id = $1 and voucher_id = $2 and customer_id = any($3::text[])`,
    [of.projectId, of.voucherId, of.customerIds],
  );
  return rows.map(({ customer_id: id }) => id);
}

type HolderKey = {
  readonly projectId: string;
  readonly voucherId: string;
  readonly holderId: string;
};

/** The role of a holder; undefined when the voucher has no such holder. */
export async function findHolderRole(
  db: Queryable,
  { projectId, voucherId, holderId }: HolderKey,
): Promise<HolderRole | undefined> {
  const { rows } = await db.query<{ role: HolderRole }>(
    `select role from redeemable_holder where project_id = $1 and id = $3 and voucher_id = $2`,
    [projectId, voucherId, holderId],
  );
  return rows[0]?.role;
}

/** Deletes a referee and returns the customer; undefined when there is no such referee. */
export async function deleteReferee(
  tx: Queryable,
  { projectId, voucherId, holderId }: HolderKey,
): Promise<string | undefined> {
  const { rows } = await tx.query<{ customer_id: string }>(
    `delete from redeemable_holder
      where project_id = $1 and id = $3 and voucher_id = $2 and role = 'REFEREE'
     returning customer_id`,
    [projectId, voucherId, holderId],
  );
  return rows[0]?.customer_id;
}

/** Of a holder other than a referee. */
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
