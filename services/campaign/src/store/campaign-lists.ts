import { type ProjectQueryable, readPage } from "@scrip/postgres";

import {
  CAMPAIGN_COLUMNS,
  type CampaignRecord,
  type CampaignRow,
  FROM_CAMPAIGN,
  campaignFromRow,
} from "./campaigns.ts";
import { orderByClause } from "./columns.ts";

export type CampaignListing = {
  readonly projectId: string;
  /** SQL over `campaign p` and `category c`, joined by `and`. */
  readonly conditions: readonly string[];
  /** Parameters of the conditions; the first is the project id. */
  readonly values: readonly unknown[];
  readonly order: string;
  readonly limit: number;
  readonly offset: number;
};

/** One page of campaigns, and the number of campaigns on all pages. */
export async function listCampaigns(
  db: ProjectQueryable,
  { projectId, conditions, values, order, limit, offset }: CampaignListing,
): Promise<{ readonly records: readonly CampaignRecord[]; readonly total: bigint }> {
  const from = `${FROM_CAMPAIGN} where ${["p.project_id = $1", "p.deleted_at is null", ...conditions].join(" and ")}`;
  const { rows, total } = await readPage<CampaignRow>(db, {
    projectId,
    columns: CAMPAIGN_COLUMNS,
    from,
    order: orderByClause(order, "p"),
    values,
    limit,
    offset,
  });
  return { records: rows.map((row) => campaignFromRow(row)), total };
}
