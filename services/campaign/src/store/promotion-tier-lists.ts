import { type TimeRange, timeRangeConditions } from "@scrip/filters";
import { type ProjectQueryable, readPage } from "@scrip/postgres";

import { behind, orderByClause } from "./columns.ts";
import {
  FROM_TIER,
  tierFromRow,
  TIER_COLUMNS,
  type TierRecord,
  type TierRow,
} from "./promotion-tiers.ts";

export type TierListing = {
  readonly projectId: string;
  /** Default: all campaigns. */
  readonly campaignId?: string;
  /** Only tiers that are active at this time, by their own flag and dates and those of their campaign. */
  readonly availableAt?: number;
  readonly createdAt?: TimeRange | undefined;
  readonly order: string;
  /** Only tiers behind this time in the order, which is by a time; all of them are counted. */
  readonly startingAfter?: Date;
  readonly limit: number;
  readonly offset: number;
};

/** One page of tiers, and the number of tiers on all pages. */
export async function listTiers(
  db: ProjectQueryable,
  listing: TierListing,
): Promise<{
  readonly records: readonly TierRecord[];
  readonly total: bigint;
  readonly hasMore: boolean;
}> {
  const { projectId, campaignId, availableAt, order, startingAfter, limit, offset } = listing;
  const values: unknown[] = [projectId];
  const conditions = ["t.project_id = $1"];
  if (campaignId !== undefined) conditions.push(`t.campaign_id = $${values.push(campaignId)}`);
  if (availableAt !== undefined) {
    const now = `$${values.push(new Date(availableAt))}::timestamptz`;
    conditions.push("t.active", "p.active", includes("t", now), includes("p", now));
  }
  conditions.push(...timeRangeConditions("t.created_at", listing.createdAt, values));
  const from = `${FROM_TIER} where ${conditions.join(" and ")}`;
  const { rows, total, hasMore } = await readPage<TierRow>(db, {
    projectId,
    columns: TIER_COLUMNS,
    from,
    order: orderByClause(order, "t"),
    values,
    limit,
    offset,
    ...(startingAfter !== undefined && { after: behind(order, "t", startingAfter) }),
  });
  return { records: rows.map((row) => tierFromRow(row)), total, hasMore };
}

const includes = (alias: string, now: string): string =>
  `(${alias}.start_date <= ${now}) is not false and (${alias}.expiration_date >= ${now}) is not false`;
