import { column, type Queryable, rowOf } from "@scrip/postgres";

import { codeKeysOf, type VoucherType } from "../domain/voucher.ts";
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

type SearchInput = Omit<CandidateSearch, "filter" | "values"> & { readonly now: number };

const inputPart = rowOf<SearchInput>({
  project_id: column.text(({ projectId }) => projectId),
  holder_id: column.text(({ holderId }) => holderId),
  standalone_types: column.single("text[]", ({ standaloneTypes }) => standaloneTypes),
  public_campaign_ids: column.single("text[]", ({ publicCampaignIds }) => publicCampaignIds),
  after_created_at: column.timestamp(({ after }) => after && after.createdAt),
  after_id: column.text(({ after }) => after?.id ?? ""),
  code_keys: column.single("text[]", ({ codes }) => codes.flatMap(codeKeysOf)),
  codes: column.single("text[]", ({ codes }) => codes),
  now: column.timestamp(({ now }) => now),
});

/** The first parameters of the statement; those of the filter follow. */
const input = inputPart.sql(1).value;

/** The first values of the statement; those of the filter follow. */
export const searchValues = (
  search: Omit<CandidateSearch, "filter" | "values">,
  now: number,
): unknown[] => [...inputPart.values({ ...search, now })];

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
  // Not prepared by name: the best index depends on the values. Not `inProject`: with the conditions of its policies,
  // PostgreSQL plans other joins, which take seconds for ten thousand vouchers.
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
        where v.project_id = ${input("project_id")} and v.deleted_at is null and ${condition}
          and (${input("after_created_at")} is null
               or (v.created_at, v.id) < (${input("after_created_at")}, ${input("after_id")}))
          and (cardinality(${input("codes")}) = 0
               or v.code_key = any(${input("code_keys")}) or v.id = any(${input("codes")}))
        order by v.created_at desc, v.id desc
        limit ${WINDOW})`;

const PUBLIC = `v.holder_id is null and v.publish_count = 0
          and v.type = any(${input("standalone_types")})`;

function textOf({ filter, limit }: Pick<CandidateSearch, "filter" | "limit">): string {
  return `
    with looked_at as (
      select created_at, id, place
        from (${source(`v.holder_id = ${input("holder_id")}`)}
        union all ${source(`v.campaign_id is null and ${PUBLIC}`)}
        union all ${source(`v.campaign_id = any(${input("public_campaign_ids")}) and ${PUBLIC}`)}) source
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
                       where project_id = ${input("project_id")} and voucher_id = looked_at.id
                       limit 1
                    ) u
              where v.active is not false
                and not v.is_referral_code
                and v.type <> 'LOYALTY_CARD'
                and (v.expiration_date is null or v.expiration_date >= ${input("now")})
                and (u.quantity is null or u.redeemed_quantity < u.quantity)
                and (u.balance is null or u.balance > 0)
                and (${filter})
              order by looked_at.created_at desc, looked_at.id desc
              limit ${limit}
           ) one on true`;
}
