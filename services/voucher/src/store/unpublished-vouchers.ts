import { batchOf, buildStatement, column, type Queryable } from "@scrip/postgres";

import type { VoucherDefinition } from "../domain/voucher.ts";

export type UnpublishedQuery = {
  readonly projectId: string;
  readonly campaignId: string;
  readonly now: number;
  readonly limit: number;
};

/**
 * Locks the oldest vouchers of a campaign that were never published and that no other transaction locks. Locks the usage and the
 * voucher, so that the conditions apply to the newest version of both, and never to a half-done edit, which locks the
 * usage first.
 */
export const lockUnpublishedVouchers = (
  tx: Queryable,
  query: UnpublishedQuery,
): Promise<readonly string[]> =>
  selectUnpublished(tx, query, {
    ofUsage: "for no key update skip locked",
    ofVoucher: "for no key update of v skip locked",
  });

/** The same without locking, including vouchers that others lock. */
export const findUnpublishedVouchers = (
  db: Queryable,
  query: UnpublishedQuery,
): Promise<readonly string[]> => selectUnpublished(db, query, { ofUsage: "", ofVoucher: "" });

async function selectUnpublished(
  db: Queryable,
  { projectId, campaignId, now, limit }: UnpublishedQuery,
  lock: { readonly ofUsage: string; readonly ofVoucher: string },
): Promise<readonly string[]> {
  // Not prepared by name: the plan of a small campaign would be kept (see `findVouchers`). The campaign is a range and
  // comes first in the order, so only the index of unpublished vouchers fits (that of lists has descending campaigns): without
  // statistics for the project, any index sorted by time would look equally good.
  const { rows } = await db.query<{ id: string }>(
    `select v.id
       from voucher v
      cross join lateral (
              select 1 from voucher_usage
               where project_id = v.project_id and voucher_id = v.id
               limit 1 ${lock.ofUsage}
            ) u
      where v.project_id = $1 and v.campaign_id between $2 and $2 and v.publish_count = 0
        and v.deleted_at is null and v.holder_id is null and v.active is not false
        and (v.expiration_date is null or v.expiration_date > $3)
      order by v.campaign_id, v.created_at, v.id
      limit $4 ${lock.ofVoucher}`,
    [projectId, campaignId, new Date(now), limit],
  );
  return rows.map(({ id }) => id);
}

/** Writes the holders, dates and versions of published vouchers. Their usages must be locked. */
export async function updatePublished(
  tx: Queryable,
  definitions: readonly VoucherDefinition[],
): Promise<void> {
  await tx.query(publishStatement({ published: definitions }));
}

const publishStatement = buildStatement({
  parts: {
    published: batchOf<VoucherDefinition>({
      project_id: column.text(({ projectId }) => projectId),
      id: column.text(({ id }) => id),
      holder_id: column.text(({ holderId }) => holderId),
      publish_count: column.int8(({ publishCount }) => publishCount),
      publication_metadata: column.json((one) => JSON.stringify(one.publicationMetadata ?? {})),
      start_date: column.timestamp(({ validity }) => validity.startDate),
      expiration_date: column.timestamp(({ validity }) => validity.expirationDate),
      updated_at: column.timestamp(({ updatedAt }) => updatedAt),
      version: column.int8(({ version }) => version),
      referrer_id: column.text(({ referrerId }) => referrerId),
    }),
  },
  text: ({ published }) => `
    with published as (
      update voucher v
         set holder_id = p.holder_id, publish_count = p.publish_count,
             publication_metadata = p.publication_metadata, start_date = p.start_date,
             expiration_date = p.expiration_date, updated_at = p.updated_at,
             definition_version = p.version, referrer_id = p.referrer_id
        from ${published.rows("p")}
       where v.project_id = p.project_id and v.id = p.id
      returning v.project_id, v.id, v.definition_version
    )
    update voucher_usage u
       set definition_version = published.definition_version, version = u.version + 1
      from published
     where u.project_id = published.project_id and u.voucher_id = published.id`,
});
