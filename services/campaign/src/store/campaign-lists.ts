import type { Queryable } from "@scrip/postgres";

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
  const { rows: counts } = await db.query<{ total: bigint }>(
    `select count(*) as total ${from}`,
    values,
  );
  const { rows } = await db.query<CampaignRow>(
    `select ${CAMPAIGN_COLUMNS} ${from} ${orderSql(order, "p")} limit ${limit} offset ${offset}`,
    values,
  );
  return { records: rows.map((row) => fromCampaignRow(row)), total: counts[0]?.total ?? 0n };
}
