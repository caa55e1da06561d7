import type { Queryable } from "@scrip/postgres";

export type VoucherCountChange = {
  readonly projectId: string;
  readonly campaignId: string;
  readonly by: number;
};

/**
 * Adds to the voucher counts of campaigns, never below 0: vouchers whose creation timed out are not
 * counted, but can be deleted. Locks are taken in key order, so that concurrent batches do not deadlock.
 */
export async function changeVoucherCounts(
  tx: Queryable,
  changes: readonly VoucherCountChange[],
): Promise<void> {
  await tx.query(
    `with change as materialized (
       select project_id, campaign_id, sum(by_count) as by_count
         from unnest($1::text[], $2::text[], $3::int8[]) as item (project_id, campaign_id, by_count)
        group by project_id, campaign_id
     ), held as materialized (
       select p.project_id, p.id
         from campaign p
        where (p.project_id, p.id) in (select project_id, campaign_id from change)
        order by p.project_id, p.id
          for no key update
     )
     update campaign p
        set vouchers_count = greatest(p.vouchers_count + change.by_count, 0)
       from held
       join change on change.project_id = held.project_id and change.campaign_id = held.id
      where p.project_id = held.project_id and p.id = held.id`,
    [
      changes.map(({ projectId }) => projectId),
      changes.map(({ campaignId }) => campaignId),
      changes.map(({ by }) => by),
    ],
  );
}
