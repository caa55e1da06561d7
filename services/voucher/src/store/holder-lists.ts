import type { FilterFields } from "@scrip/filters";
import { type ListSource, readPage } from "@scrip/postgres";

import type { CampaignType, Metadata, VoucherType } from "../domain/voucher.ts";
import type { Holder, HolderRole } from "./holders.ts";

export type HolderListing = {
  readonly projectId: string;
  /** Over `redeemable_holder h`, all of which must hold. */
  readonly conditions: readonly string[];
  /** Their values; the first is the project. */
  readonly values: readonly unknown[];
  readonly descending: boolean;
  /** The last id of the previous page. */
  readonly after: string | null;
  readonly limit: number;
};

type HolderRow = {
  project_id: string;
  id: string;
  voucher_id: string;
  customer_id: string;
  role: HolderRole;
  campaign_id: string | null;
  campaign_type: CampaignType | null;
  voucher_type: VoucherType;
  metadata: Metadata;
  publication_id: string | null;
  created_at: Date;
};

/** Holders of existing vouchers, by id after a cursor, whether more follow, and their total number. */
export async function listHolders(
  db: ListSource,
  { projectId, conditions, values, descending, after, limit }: HolderListing,
): Promise<{
  readonly holders: readonly Holder[];
  readonly total: bigint;
  readonly hasMore: boolean;
}> {
  // By a lookup for each: a holder has few vouchers, and without statistics Postgres would read all of the project.
  const from = `from redeemable_holder h
               cross join lateral (
                     select from voucher
                      where project_id = h.project_id and id = h.voucher_id and deleted_at is null
                      limit 1) v
               where ${["h.project_id = $1", ...conditions].join(" and ")}`;
  const { rows, ...counts } = await readPage<HolderRow>(db, {
    projectId,
    columns: "h.*",
    from,
    order: `h.id ${descending ? "desc" : "asc"}`,
    values,
    limit,
    offset: 0,
    ...(after !== null && {
      after: { column: "h.id", operator: descending ? "<" : ">", value: after },
    }),
  });
  return { holders: rows.map((row) => holderFromRow(row)), ...counts };
}

const holderFromRow = (row: HolderRow): Holder => ({
  projectId: row.project_id,
  id: row.id,
  voucherId: row.voucher_id,
  customerId: row.customer_id,
  role: row.role,
  campaignId: row.campaign_id,
  campaignType: row.campaign_type,
  voucherType: row.voucher_type,
  metadata: row.metadata,
  publicationId: row.publication_id,
  createdAt: row.created_at.getTime(),
});

/** The fields that the holders of one voucher may be filtered by. */
export const voucherHolderFilters: FilterFields = {
  named: {
    id: { type: "text", sql: "h.id" },
    created_at: { type: "date", sql: "h.created_at" },
    holder_role: { type: "text", sql: "h.role" },
    customer_id: { type: "text", sql: "h.customer_id" },
  },
};

/** The fields that the vouchers of one customer may be filtered by. */
export const holderFilters: FilterFields = {
  named: {
    id: { type: "text", sql: "h.id" },
    created_at: { type: "date", sql: "h.created_at" },
    redeemable_id: { type: "text", sql: "h.voucher_id" },
    redeemable_object: { type: "text", sql: "'voucher'" },
    holder_role: { type: "text", sql: "h.role" },
    campaign_id: { type: "text", sql: "h.campaign_id" },
    campaign_type: { type: "text", sql: "h.campaign_type" },
    voucher_type: { type: "text", sql: "h.voucher_type" },
  },
};
