import { type ProjectQueryable, readPage } from "@scrip/postgres";

import {
  USAGE_OF_VOUCHER,
  voucherFromRow,
  type StoredVoucher,
  VOUCHER_COLUMNS,
  type VoucherRow,
} from "./voucher-rows.ts";

export type VoucherOrder = { readonly by: string; readonly descending: boolean };

export type VoucherListing = {
  readonly projectId: string;
  /** Over `voucher v` and `voucher_usage u`, all of which must hold. */
  readonly conditions: readonly string[];
  /** Their values; the first is the project. */
  readonly values: readonly unknown[];
  readonly order: VoucherOrder;
  readonly page: { readonly limit: number; readonly offset: number };
};

/** Another service owns the names of categories, so lists sort by the id. */
const SORTABLE: Readonly<Record<string, string>> = {
  created_at: "v.created_at",
  updated_at: "v.updated_at",
  type: "v.type",
  code: "v.code",
  campaign: "v.campaign_name",
  category: "v.category_id",
  active: "v.active",
};

/** One page and the total number of vouchers. Ties are broken by id. */
export async function listVouchers(
  db: ProjectQueryable,
  { projectId, conditions, values, order, page }: VoucherListing,
): Promise<{ readonly vouchers: readonly StoredVoucher[]; readonly total: bigint }> {
  const column = SORTABLE[order.by];
  if (column === undefined) throw new Error(`vouchers cannot be sorted by ${order.by}`);
  const direction = order.descending ? "desc" : "asc";
  const from = `from voucher v
                ${USAGE_OF_VOUCHER}
               where ${["v.project_id = $1", "v.deleted_at is null", ...conditions].join(" and ")}`;
  const { rows, total } = await readPage<VoucherRow>(db, {
    projectId,
    columns: VOUCHER_COLUMNS,
    from,
    order: `${column} ${direction} nulls last, v.id ${direction}`,
    values,
    ...page,
  });
  return { vouchers: rows.map((row) => voucherFromRow(row)), total };
}
