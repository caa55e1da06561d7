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

/** Columns with a value in each row. A placement of nulls would exclude their indexes. */
const REQUIRED: ReadonlySet<string> = new Set(["created_at", "type", "code"]);

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

/** Conditions for one of these leave few vouchers, whose usages are looked up. Filters may also exclude them. */
const KEYS = /^\(?v\.(?:id|code_key|holder_id) = /;

/** Of all vouchers, for conditions on them. */
const USAGES_OF_VOUCHERS = `
  join voucher_usage u on u.project_id = v.project_id and u.voucher_id = v.id and u.project_id = $1`;

/** One page and the total number of vouchers. Ties are broken by id. */
export async function listVouchers(
  db: ProjectQueryable,
  { projectId, conditions, values, order, page }: VoucherListing,
): Promise<{ readonly vouchers: readonly StoredVoucher[]; readonly total: bigint }> {
  const column = SORTABLE[order.by];
  if (column === undefined) throw new Error(`vouchers cannot be sorted by ${order.by}`);
  const direction = order.descending ? "desc" : "asc";
  const nulls = REQUIRED.has(order.by) ? "" : " nulls last";
  const where = ["v.project_id = $1", "v.deleted_at is null", ...conditions].join(" and ");
  // The total counts all rows: a project may have millions, and a lookup for each takes seconds.
  const needsUsage = /\bu\./.test(where);
  const isNarrow = conditions.some((condition) => KEYS.test(condition));
  const usages = isNarrow ? USAGE_OF_VOUCHER : USAGES_OF_VOUCHERS;
  const joined = needsUsage ? usages : "";
  const { rows, total } = await readPage<VoucherRow>(db, {
    projectId,
    columns: VOUCHER_COLUMNS,
    from: `from voucher v ${joined} where ${where}`,
    order: `${column} ${direction}${nulls}, v.id ${direction}`,
    values,
    ...(joined === USAGES_OF_VOUCHERS && { planning: "hashJoins" }),
    ...(!needsUsage && { completed: { alias: "v", joins: USAGE_OF_VOUCHER } }),
    ...page,
  });
  return { vouchers: rows.map((row) => voucherFromRow(row)), total };
}
