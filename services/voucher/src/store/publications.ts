import type { Queryable } from "@scrip/postgres";

import type { Metadata, VoucherType } from "../domain/voucher.ts";

export type PublicationFailure = { readonly code: string; readonly message: string };

/** A publication as it lies in the books; instants are epoch milliseconds. */
export type StoredPublication = {
  readonly projectId: string;
  readonly id: string;
  readonly createdAt: number;
  readonly customerId: string;
  /** The customer's source id. */
  readonly trackingId: string | null;
  readonly metadata: Metadata;
  readonly channel: string;
  readonly sourceId: string | null;
  readonly campaignId: string | null;
  readonly campaignName: string | null;
  readonly voucherType: VoucherType;
  readonly isReferralCode: boolean;
  readonly failure: PublicationFailure | null;
  /** What was published, or asked for in vain. */
  readonly voucherIds: readonly string[];
};

export type PublicationRow = {
  project_id: string;
  id: string;
  created_at: Date;
  customer_id: string;
  tracking_id: string | null;
  metadata: Metadata;
  channel: string;
  source_id: string | null;
  campaign_id: string | null;
  campaign_name: string | null;
  voucher_type: VoucherType;
  is_referral_code: boolean;
  failure_code: string | null;
  failure_message: string | null;
  voucher_ids: string[];
};

/** Of `publication p`. */
export const PUBLICATION_COLUMNS = `p.project_id, p.id, p.created_at, p.customer_id, p.tracking_id,
  p.metadata, p.channel, p.source_id, p.campaign_id, p.campaign_name, p.voucher_type,
  p.is_referral_code, p.failure_code, p.failure_message,
  array(select pv.voucher_id from publication_voucher pv
         where pv.project_id = p.project_id and pv.publication_id = p.id
         order by pv.position) as voucher_ids`;

/** Answers `source_taken` when a publication has the source id, also one that has just become so. */
export async function insertPublication(
  tx: Queryable,
  publication: StoredPublication,
  told: { readonly voucherCode: string | null; readonly requestId: string },
): Promise<"inserted" | "source_taken"> {
  const { failure } = publication;
  const { rows } = await tx.query<{ inserted: number }>(
    `with made as (
       insert into publication (project_id, id, created_at, customer_id, tracking_id, metadata,
              channel, source_id, result, campaign_id, campaign_name, voucher_type,
              is_referral_code, voucher_code, failure_code, failure_message, request_id)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
           on conflict do nothing
       returning project_id, id
     ), vouchers as (
       insert into publication_voucher (project_id, publication_id, position, voucher_id)
       select made.project_id, made.id, given.position, given.voucher_id
         from made, unnest($18::text[]) with ordinality as given (voucher_id, position)
     )
     select count(*)::int4 as inserted from made`,
    [
      publication.projectId,
      publication.id,
      new Date(publication.createdAt),
      publication.customerId,
      publication.trackingId,
      JSON.stringify(publication.metadata),
      publication.channel,
      publication.sourceId,
      failure === null ? "SUCCESS" : "FAILURE",
      publication.campaignId,
      publication.campaignName,
      publication.voucherType,
      publication.isReferralCode,
      told.voucherCode,
      failure?.code ?? null,
      failure?.message ?? null,
      told.requestId,
      publication.voucherIds,
    ],
  );
  return rows[0]?.inserted === 1 ? "inserted" : "source_taken";
}

export async function findPublication(
  db: Queryable,
  projectId: string,
  id: string,
): Promise<StoredPublication | undefined> {
  const { rows } = await db.query<PublicationRow>(
    `select ${PUBLICATION_COLUMNS} from publication p where p.project_id = $1 and p.id = $2`,
    [projectId, id],
  );
  return rows[0] && fromPublicationRow(rows[0]);
}

/** Whether something was published under the source id. */
export async function isSourceTaken(
  db: Queryable,
  projectId: string,
  sourceId: string,
): Promise<boolean> {
  const { rows } = await db.query(
    `select 1 as taken
       from publication
      where project_id = $1 and source_id = $2 and result = 'SUCCESS'`,
    [projectId, sourceId],
  );
  return rows.length > 0;
}

export const fromPublicationRow = (row: PublicationRow): StoredPublication => ({
  projectId: row.project_id,
  id: row.id,
  createdAt: row.created_at.getTime(),
  customerId: row.customer_id,
  trackingId: row.tracking_id,
  metadata: row.metadata,
  channel: row.channel,
  sourceId: row.source_id,
  campaignId: row.campaign_id,
  campaignName: row.campaign_name,
  voucherType: row.voucher_type,
  isReferralCode: row.is_referral_code,
  failure:
    row.failure_code === null
      ? null
      : { code: row.failure_code, message: row.failure_message ?? "" },
  voucherIds: row.voucher_ids,
});
