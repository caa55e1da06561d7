import type { Queryable } from "@scrip/postgres";

import { foldedKeyOf, type VoucherType } from "../domain/voucher.ts";
import {
  voucherFromRow,
  type StoredVoucher,
  VOUCHER_COLUMNS,
  type VoucherRow,
} from "./voucher-rows.ts";

export type CandidateSearch = {
  readonly projectId: string;
  readonly holderId: string | null;
  readonly standaloneTypes: readonly VoucherType[];
  readonly publicCampaignIds: readonly string[];
  /** Only vouchers after this cursor; without an id, only those created before that instant. */
  readonly after: CandidateCursor | null;
  /** Codes or ids; any when empty. */
  readonly codes: readonly string[];
  /** SQL over `voucher v`; its values follow those of `searchValues`. */
  readonly filter: string;
  readonly values: readonly unknown[];
  readonly limit: number;
};

export type CandidateCursor = { readonly createdAt: number; readonly id: string | null };

export type FoundCandidates = {
  /** Newest first. */
  readonly vouchers: readonly StoredVoucher[];
  /** Null on the last page. */
  readonly next: CandidateCursor | null;
};

/** Maximum number of vouchers that one search reads. */
const WINDOW = 1_000;

/** The first values of the statement; those of the filter follow. */
export const searchValues = (
  search: Omit<CandidateSearch, "filter" | "values">,
  now: number,
): unknown[] => [
  search.projectId,
  search.holderId,
  [...search.standaloneTypes],
  [...search.publicCampaignIds],
  search.after && new Date(search.after.createdAt),
  search.after?.id ?? "",
  search.codes.flatMap((code) => [code, foldedKeyOf(code)]),
  [...search.codes],
  new Date(now),
];

type Row = Omit<VoucherRow, "id"> & {
  id: string | null;
  scanned: bigint;
  last_created_at: Date;
  last_id: string;
};

/**
 * Reads the newest candidates, at most a thousand, and returns those that can be redeemed and match the filter. Each
 * source is one range of an index that is sorted in the order in which it is read.
 */
export async function findCandidates(
  db: Queryable,
  search: CandidateSearch,
): Promise<FoundCandidates> {
  // Not prepared by name: the best index depends on the values.
  const { rows } = await db.query<Row>(textOf(search), [...search.values]);
  const [first] = rows;
  if (first === undefined) return { vouchers: [], next: null };
  const vouchers = rows.flatMap((row) =>
    row.id === null ? [] : [voucherFromRow({ ...row, id: row.id })],
  );
  const last = vouchers.at(-1)?.definition;
  if (last !== undefined && vouchers.length === search.limit) {
    return { vouchers, next: { createdAt: last.createdAt, id: last.id } };
  }
  const isCut = first.scanned >= BigInt(WINDOW);
  const next = isCut ? { createdAt: first.last_created_at.getTime(), id: first.last_id } : null;
  return { vouchers, next };
}

/**
 * Null and empty values are known to the planner, so their conditions cost nothing. Rows are joined by ctid, which is
 * stable within a statement and leaves no index to choose: without statistics for the project, Postgres might choose
 * any index and scan the whole project for each voucher.
 */
const source = (condition: string): string => `
      (select v.created_at, v.id, v.ctid as place
         from voucher v
        where v.project_id = $1 and v.deleted_at is null and ${condition}
          and ($5::timestamptz is null or (v.created_at, v.id) < ($5::timestamptz, $6::text))
          and (cardinality($7::text[]) = 0
               or v.code_key = any($7::text[]) or v.id = any($8::text[]))
        order by v.created_at desc, v.id desc
        limit ${WINDOW})`;

function textOf({ filter, limit }: Pick<CandidateSearch, "filter" | "limit">): string {
  return `
    with looked_at as (
      select created_at, id, place
        from (${source("v.holder_id = $2::text")}
        union all ${source("v.campaign_id is null and v.holder_id is null and v.publish_count = 0 and v.type = any($3::text[])")}
        union all ${source(
          "v.campaign_id = any($4::text[]) and v.holder_id is null and v.publish_count = 0 and v.type = any($3::text[])",
        )}) source
       order by created_at desc, id desc
       limit ${WINDOW}
    ), last as (
      select count(*) as scanned, (array_agg(created_at order by created_at, id))[1] as last_created_at,
             (array_agg(id order by created_at, id))[1] as last_id
        from looked_at
    )
    select last.*, one.*
      from last
      left join lateral (
             select ${VOUCHER_COLUMNS}
               from looked_at
               join voucher v on v.ctid = looked_at.place
              cross join lateral (
                      select * from voucher_usage
                       where project_id = $1 and voucher_id = looked_at.id
                       limit 1
                    ) u
              where v.active is not false
                and not v.is_referral_code
                and v.type <> 'LOYALTY_CARD'
                and (v.expiration_date is null or v.expiration_date >= $9::timestamptz)
                and (u.quantity is null or u.redeemed_quantity < u.quantity)
                and (u.balance is null or u.balance > 0)
                and (${filter})
              order by looked_at.created_at desc, looked_at.id desc
              limit ${limit}
           ) one on true`;
}
