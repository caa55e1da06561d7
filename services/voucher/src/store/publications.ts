import { buildStatement, column, type Queryable, rowOf } from "@scrip/postgres";

import type { Metadata, VoucherType } from "../domain/voucher.ts";

export type PublicationFailure = { readonly code: string; readonly message: string };

/** A row of `publication`; instants are epoch milliseconds. */
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
  /** The vouchers that were published, or requested when it failed. */
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

/** Returns `source_taken` when a successful publication has the source id, also one committed concurrently. */
export async function insertPublication(
  tx: Queryable,
  publication: StoredPublication,
  details: PublicationDetails,
): Promise<"inserted" | "source_taken"> {
  const { rows } = await tx.query<{ inserted: number }>(
    insertStatement({ publication: { ...publication, ...details }, vouchers: publication }),
  );
  return rows[0]?.inserted === 1 ? "inserted" : "source_taken";
}

type PublicationDetails = { readonly voucherCode: string | null; readonly requestId: string };

const insertStatement = buildStatement({
  parts: {
    publication: rowOf<StoredPublication & PublicationDetails>({
      project_id: column.text(({ projectId }) => projectId),
      id: column.text(({ id }) => id),
      created_at: column.timestamp(({ createdAt }) => createdAt),
      customer_id: column.text(({ customerId }) => customerId),
      tracking_id: column.text(({ trackingId }) => trackingId),
      metadata: column.json(({ metadata }) => JSON.stringify(metadata)),
      channel: column.text(({ channel }) => channel),
      source_id: column.text(({ sourceId }) => sourceId),
      result: column.text(({ failure }) => (failure === null ? "SUCCESS" : "FAILURE")),
      campaign_id: column.text(({ campaignId }) => campaignId),
      campaign_name: column.text(({ campaignName }) => campaignName),
      voucher_type: column.text(({ voucherType }) => voucherType),
      is_referral_code: column.bool(({ isReferralCode }) => isReferralCode),
      voucher_code: column.text(({ voucherCode }) => voucherCode),
      failure_code: column.text(({ failure }) => failure && failure.code),
      failure_message: column.text(({ failure }) => failure && failure.message),
      request_id: column.text(({ requestId }) => requestId),
    }),
    vouchers: rowOf<StoredPublication>({
      voucher_ids: column.single("text[]", ({ voucherIds }) => voucherIds),
    }),
  },
  text: ({ publication, vouchers }) => `
    with inserted as (
      insert into publication (${publication.columns})
      values (${publication.values})
          on conflict do nothing
      returning project_id, id
    ), vouchers as (
      insert into publication_voucher (project_id, publication_id, position, voucher_id)
      select inserted.project_id, inserted.id, one.position, one.voucher_id
        from inserted, unnest(${vouchers.values}) with ordinality as one (voucher_id, position)
    )
    select count(*)::int4 as inserted from inserted`,
});

export async function findPublication(
  db: Queryable,
  projectId: string,
  id: string,
): Promise<StoredPublication | undefined> {
  const { rows } = await db.query<PublicationRow>(
    `select ${PUBLICATION_COLUMNS} from publication p where p.project_id = $1 and p.id = $2`,
    [projectId, id],
  );
  return rows[0] && publicationFromRow(rows[0]);
}

/** Whether a successful publication has the source id. */
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

/** Ids of the vouchers that were published under a source id, in their order. */
export async function findPublishedUnder(
  db: Queryable,
  projectId: string,
  sourceId: string,
): Promise<readonly string[]> {
  const { rows } = await db.query<{ voucher_id: string }>(
    `select v.voucher_id
       from publication p
       join publication_voucher v on v.project_id = p.project_id and v.publication_id = p.id
      where p.project_id = $1 and p.source_id = $2 and p.result = 'SUCCESS'
      order by v.position`,
    [projectId, sourceId],
  );
  return rows.map(({ voucher_id: id }) => id);
}

export const publicationFromRow = (row: PublicationRow): StoredPublication => ({
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
