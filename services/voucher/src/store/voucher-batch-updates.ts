import { type Queryable, textArray } from "@scrip/postgres";

import type { CardDefinition } from "../domain/loyalty-card.ts";
import type { Metadata } from "../domain/voucher.ts";
import { lockUsages } from "./usages.ts";

/** A change of a voucher in a batch; what is undefined stays. */
export type VoucherChange = {
  readonly id: string;
  readonly active?: boolean | undefined;
  readonly categoryId?: string | null | undefined;
  /** Merged by key. */
  readonly metadata?: Metadata | undefined;
};

export type ChangedVouchers = {
  /** Ids of the vouchers that exist. */
  readonly live: ReadonlySet<string>;
  /** Loyalty cards with holders whose `active` was set. */
  readonly cards: readonly CardDefinition[];
};

type CardRow = {
  id: string;
  definition_version: bigint;
  holder_id: string;
  active: boolean;
  start_date: Date | null;
  expiration_date: Date | null;
};

/** Changes vouchers with one statement, under the locks that redemptions take. Each voucher has one change. */
export async function updateVouchersTogether(
  tx: Queryable,
  projectId: string,
  { changes, at }: { readonly changes: readonly VoucherChange[]; readonly at: number },
): Promise<ChangedVouchers> {
  if (changes.length === 0) return { live: new Set(), cards: [] };
  const sorted = changes.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const usages = await lockUsages(
    tx,
    sorted.map(({ id: voucherId }) => ({ projectId, voucherId })),
  );
  const live = new Set(usages.flatMap(({ voucherId, deleted }) => (deleted ? [] : [voucherId])));
  const found = sorted.filter(({ id }) => live.has(id));
  if (found.length === 0) return { live, cards: [] };
  const { rows } = await tx.query<CardRow>({
    planning: "hashJoins",
    text: `with change as (
       select * from unnest($2::text[], $3::text[], $4::text[], $5::text[])
              as change (id, active, category, metadata)
     ), changed as (
       update voucher v
          set definition_version = definition_version + 1, updated_at = $6,
              active = coalesce(change.active::bool, v.active),
              -- An empty text clears the category.
              category_id = case when change.category is null then v.category_id
                                 else nullif(change.category, '') end,
              metadata = v.metadata || coalesce(change.metadata::jsonb, '{}')
         from change
        where v.project_id = $1 and v.id = any($2::text[]) and v.id = change.id
       returning v.id, v.definition_version, v.type, v.holder_id, v.active, v.start_date, v.expiration_date,
                 change.active is not null as sets_active
     ), usage as (
       update voucher_usage u
          set definition_version = changed.definition_version, version = u.version + 1
         from changed
        where u.project_id = $1 and u.voucher_id = any($2::text[]) and u.voucher_id = changed.id
     )
     select id, definition_version, holder_id, active, start_date, expiration_date
       from changed
      where sets_active and type = 'LOYALTY_CARD' and holder_id is not null`,
    values: [
      projectId,
      textArray(found.map(({ id }) => id)),
      textArray(found.map(({ active }) => (active === undefined ? null : String(active)))),
      textArray(
        found.map(({ categoryId }) => (categoryId === undefined ? null : (categoryId ?? ""))),
      ),
      textArray(found.map(({ metadata }) => (metadata ? JSON.stringify(metadata) : null))),
      new Date(at),
    ],
  });
  return { live, cards: rows.map((row) => cardFromRow(projectId, row)) };
}

const cardFromRow = (projectId: string, row: CardRow): CardDefinition => ({
  projectId,
  id: row.id,
  type: "LOYALTY_CARD",
  holderId: row.holder_id,
  active: row.active,
  version: row.definition_version,
  validity: {
    startDate: row.start_date?.getTime() ?? null,
    expirationDate: row.expiration_date?.getTime() ?? null,
  },
});
