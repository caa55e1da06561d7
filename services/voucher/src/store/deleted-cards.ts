import type { Queryable } from "@scrip/postgres";

import type { SummaryScope } from "./campaign-figures.ts";

/** Loyalty cards of a campaign that were deleted in the range, in the order of their ids. */
export async function listDeletedCards(
  db: Queryable,
  { projectId, campaignId, from, until }: SummaryScope,
  page: { readonly after: string; readonly limit: number },
): Promise<
  readonly { readonly projectId: string; readonly cardId: string; readonly initialPoints: bigint }[]
> {
  const { rows } = await db.query<{ id: string; loyalty_points: bigint }>(
    `select id, loyalty_points from voucher
      where project_id = $1 and campaign_id = $2 and deleted_at is not null and loyalty_points is not null
        and ($3::timestamptz is null or deleted_at >= $3) and ($4::timestamptz is null or deleted_at < $4)
        and id > $5
      order by id limit $6`,
    [
      projectId,
      campaignId,
      from === null ? null : new Date(from),
      until === null ? null : new Date(until),
      page.after,
      page.limit,
    ],
  );
  return rows.map((row) => ({ projectId, cardId: row.id, initialPoints: row.loyalty_points }));
}
