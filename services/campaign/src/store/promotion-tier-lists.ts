import { type TimeRange, timeRangeConditions } from "@scrip/filters";
import { type CursorTimestamp, type ListSource, listReads, readTimePage } from "@scrip/postgres";

import { parseOrder } from "./columns.ts";
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
  /** Only tiers behind this cursor in the order, which is by a time; all of them are counted. */
  readonly startingAfter?: CursorTimestamp | undefined;
  readonly limit: number;
  readonly offset: number;
};

/** One page of tiers, the cursor of the next one if the order is by a time, and the number of tiers on all pages. */
export async function listTiers(
  db: ListSource,
  listing: TierListing,
): Promise<{
  readonly records: readonly TierRecord[];
  readonly total: bigint;
  readonly hasMore: boolean;
  readonly moreStartingAfter: CursorTimestamp | undefined;
}> {
  const { projectId, campaignId, availableAt, startingAfter, limit, offset } = listing;
  const values: unknown[] = [projectId];
  const conditions = ["t.project_id = $1"];
  if (campaignId !== undefined) conditions.push(`t.campaign_id = $${values.push(campaignId)}`);
  if (availableAt !== undefined) {
    const now = `$${values.push(new Date(availableAt))}::timestamptz`;
    conditions.push("t.active", "p.active", includes("t", now), includes("p", now));
  }
  conditions.push(...timeRangeConditions("t.created_at", listing.createdAt, values));
  const { by, ...order } = parseOrder(listing.order, "t");
  const { rows, ...rest } = await readTimePage<TierRow>(listReads(db, projectId), {
    from: `${FROM_TIER} where ${conditions.join(" and ")}`,
    values,
    order,
    timeOf: by === "created_at" || by === "updated_at" ? (row) => row[by] : null,
    startingAfter,
    limit,
    offset,
    select: (page) => `select ${TIER_COLUMNS} ${page}`,
  });
  return { records: rows.map((row) => tierFromRow(row)), ...rest };
}

const includes = (alias: string, now: string): string =>
  `(${alias}.start_date <= ${now}) is not false and (${alias}.expiration_date >= ${now}) is not false`;
