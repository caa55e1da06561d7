import { int4Array, type Queryable, textArray } from "@scrip/postgres";

import { exactKeyOf, foldedKeyOf } from "../domain/voucher.ts";
import {
  voucherFromRow,
  type StoredVoucher,
  VOUCHER_COLUMNS,
  type VoucherRow,
} from "./voucher-rows.ts";

export type VoucherLookup = { readonly projectId: string; readonly code: string };

/**
 * Finds vouchers by code, or by id when no code matches, in the order of the lookups. A `lateral … limit 1` looks up row
 * by row through an index, however long the list is.
 */
export async function findVouchers(
  db: Queryable,
  names: readonly VoucherLookup[],
): Promise<readonly (StoredVoucher | undefined)[]> {
  if (names.length === 0) return [];
  const { rows } = await db.query<VoucherRow & { position: number }>({
    name: "find-vouchers",
    planning: "indexLookups",
    text: FIND_VOUCHERS,
    values: lookupValues(names),
  });
  const found: (StoredVoucher | undefined)[] = names.map(() => undefined);
  for (const row of rows) found[row.position] = voucherFromRow(row);
  return found;
}

/** The vouchers of a deleted campaign are not found, also while they wait for their deletion. */
export async function findVoucher(
  db: Queryable,
  projectId: string,
  code: string,
): Promise<StoredVoucher | undefined> {
  const { rows } = await db.query<VoucherRow>({
    name: "find-voucher",
    planning: "indexLookups",
    text: FIND_VOUCHER,
    values: lookupValues([{ projectId, code }]),
  });
  return rows[0] && voucherFromRow(rows[0]);
}

const lookupValues = (names: readonly VoucherLookup[]): readonly unknown[] => [
  int4Array(names.map((_, position) => position)),
  textArray(names.map(({ projectId }) => projectId)),
  textArray(names.map(({ code }) => exactKeyOf(code))),
  textArray(names.map(({ code }) => foldedKeyOf(code))),
];

/** Number of these keys that codes have, also codes of deleted vouchers that are reserved. */
export async function countCodeKeys(
  db: Queryable,
  projectId: string,
  codeKeys: readonly string[],
): Promise<bigint> {
  const { rows } = await db.query<{ count: bigint }>(
    `select count(*) as count
       from unnest($2::text[]) as name (key)
      where exists (select from voucher where project_id = $1 and code_key = name.key)`,
    [projectId, textArray(codeKeys)],
  );
  return rows[0]?.count ?? 0n;
}

export type VoucherKey = { readonly projectId: string; readonly id: string };

/** Unordered, and including deleted vouchers, whose redemptions still exist. */
export async function findVouchersById(
  db: Queryable,
  ids: readonly VoucherKey[],
): Promise<readonly StoredVoucher[]> {
  const { rows } = await db.query<VoucherRow>({
    name: "find-vouchers-by-id",
    planning: "indexLookups",
    text: FIND_VOUCHERS_BY_ID,
    values: [textArray(ids.map(({ projectId }) => projectId)), textArray(ids.map(({ id }) => id))],
  });
  return rows.map((row) => voucherFromRow(row));
}

/*
 * A connection keeps the plan of a named statement, also one that was cached while the table was small. All indexes begin
 * with the project and look equally good then, so codes and ids are ranges in index order, which only their own index
 * provides.
 */

const FIND_VOUCHERS = `
  select name.position, ${VOUCHER_COLUMNS}
    from unnest($1::int4[], $2::text[], $3::text[], $4::text[])
         as name (position, project_id, code, folded_key)
   cross join lateral (
           (select * from voucher
             where project_id = name.project_id and code_key between name.code and name.code
             order by code_key
             limit 1)
           union all
           (select * from voucher
             where project_id = name.project_id
               and code_key between name.folded_key and name.folded_key
             order by code_key
             limit 1)
           union all
           (select * from voucher
             where starts_with(name.code, 'v_')
               and project_id = name.project_id and id between name.code and name.code
             order by id
             limit 1)
            limit 1
         ) v
   cross join lateral (
           select * from voucher_usage
            where project_id = v.project_id and voucher_id = v.id
            limit 1
         ) u
   where v.deleted_at is null`;

/** Decisions know deleted campaigns from the campaign service. */
const FIND_VOUCHER = `${FIND_VOUCHERS}
     and (select deleted_at from voucher_campaign
           where project_id = v.project_id and campaign_id between v.campaign_id and v.campaign_id
           order by campaign_id
           limit 1) is null`;

const FIND_VOUCHERS_BY_ID = `
  select ${VOUCHER_COLUMNS}
    from unnest($1::text[], $2::text[]) as name (project_id, id)
   cross join lateral (
           select * from voucher
            where project_id = name.project_id and id between name.id and name.id
            order by id
            limit 1
         ) v
   cross join lateral (
           select * from voucher_usage
            where project_id = v.project_id and voucher_id = v.id
            limit 1
         ) u`;
