import type { FilterFields } from "@scrip/filters";
import { type ProjectQueryable, readPage } from "@scrip/postgres";

import { voucherTypeOf } from "../domain/voucher.ts";
import {
  publicationFromRow,
  PUBLICATION_COLUMNS,
  type PublicationRow,
  type StoredPublication,
} from "./publications.ts";

export type PublicationListing = {
  readonly projectId: string;
  /** Over `publication p`, all of which must hold. */
  readonly conditions: readonly string[];
  /** Their values; the first is the project. */
  readonly values: readonly unknown[];
  readonly order: { readonly by: string; readonly descending: boolean };
  readonly page: { readonly limit: number; readonly offset: number };
};

const SORTABLE: Readonly<Record<string, string>> = {
  id: "p.id",
  voucher_code: "p.voucher_code",
  tracking_id: "p.tracking_id",
  customer_id: "p.customer_id",
  created_at: "p.created_at",
  channel: "p.channel",
};

/** Columns with a value in each row. A placement of nulls would exclude their indexes. */
const REQUIRED: ReadonlySet<string> = new Set(["id", "created_at", "channel"]);

/** One page and the total number of publications. Ties are broken by id. */
export async function listPublications(
  db: ProjectQueryable,
  { projectId, conditions, values, order, page }: PublicationListing,
): Promise<{ readonly publications: readonly StoredPublication[]; readonly total: bigint }> {
  const column = SORTABLE[order.by];
  if (column === undefined) throw new Error(`publications cannot be sorted by ${order.by}`);
  const direction = order.descending ? "desc" : "asc";
  const nulls = REQUIRED.has(order.by) ? "" : " nulls last";
  const from = `from publication p where ${["p.project_id = $1", ...conditions].join(" and ")}`;
  const { rows, total } = await readPage<PublicationRow>(db, {
    projectId,
    columns: PUBLICATION_COLUMNS,
    from,
    order: `${column} ${direction}${nulls}, p.id ${direction}`,
    values,
    ...page,
  });
  return { publications: rows.map((row) => publicationFromRow(row)), total };
}

/** SQL: whether a publication has the voucher whose id is `bound`. */
export const ofVoucher = (bound: string): string => ofVouchers(`array[${bound}]`);

/** SQL: whether it has one of these. */
const ofVouchers = (ids: string): string =>
  `p.id in (select pv.publication_id from publication_voucher pv
             where pv.project_id = $1 and pv.voucher_id = any(${ids}))`;

const VOUCHER_IDS = `nullif(array(select pv.voucher_id from publication_voucher pv
                                    where pv.project_id = p.project_id and pv.publication_id = p.id), '{}')`;

/** The fields of a publication that a listing may be filtered by. */
export const publicationFilters: FilterFields = {
  named: {
    failure_code: { type: "text", sql: "p.failure_code" },
    result: { type: "text", sql: "p.result", states: { $failed: () => "p.result = 'FAILURE'" } },
    customer_id: { type: "text", sql: "p.customer_id" },
    campaign: { type: "text", sql: "p.campaign_name" },
    campaign_id: { type: "text", sql: "p.campaign_id" },
    campaign_name: { type: "text", sql: "p.campaign_name" },
    voucher_type: { type: "text", sql: "p.voucher_type", normalize: voucherTypeOf },
    is_referral_code: { type: "boolean", sql: "p.is_referral_code" },
    parent_object_id: { type: "text", sql: "p.campaign_id" },
    related_object_id: { type: "array", sql: VOUCHER_IDS, hasAny: ofVouchers },
    source_id: { type: "text", sql: "p.source_id" },
  },
};
