import { type Queryable, readPage } from "@scrip/postgres";

import {
  CAMPAIGN_COLUMNS,
  type CampaignRecord,
  type CampaignRow,
  FROM_CAMPAIGN,
  fromCampaignRow,
} from "./campaigns.ts";
import { orderSql } from "./columns.ts";

export type CampaignListing = {
  /** Over `campaign p` and `category c`, all of which must hold. */
  readonly conditions: readonly string[];
  /** Their values; the first is the project. */
  readonly values: readonly unknown[];
  readonly order: string;
  readonly limit: number;
  readonly offset: number;
};

/** One page, and how many campaigns there are in all. */
export async function listCampaigns(
  db: Queryable,
  { conditions, values, order, limit, offset }: CampaignListing,
): Promise<{ readonly records: readonly CampaignRecord[]; readonly total: bigint }> {
  const from = `${FROM_CAMPAIGN} where ${["p.project_id = $1", ...conditions].join(" and ")}`;
  const { rows, total } = await readPage<CampaignRow>(db, {
    columns: CAMPAIGN_COLUMNS,
    from,
    order: orderSql(order, "p"),
    values,
    limit,
    offset,
  });
  return { records: rows.map((row) => fromCampaignRow(row)), total };
}
