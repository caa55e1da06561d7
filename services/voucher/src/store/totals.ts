import { int8Array, type Queryable, type Statement, textArray } from "@scrip/postgres";

import type { Addition } from "../domain/counts.ts";
import { rowKey } from "../domain/usage.ts";

/** A campaign or a promotion tier, whose row of `redemption_total` is also its lock. */
export type ScopeName = { readonly projectId: string; readonly scopeId: string };

/** Makes the rows that are not there yet: a row that is missing cannot be locked. */
export async function ensureTotals(db: Queryable, names: readonly ScopeName[]): Promise<void> {
  if (names.length === 0) return;
  await db.query({
    name: "ensure-totals",
    text: `insert into redemption_total (project_id, scope_id)
           select * from unnest($1::text[], $2::text[])
               on conflict do nothing`,
    values: nameValues(names),
  });
}

/**
 * Holds the rows until the transaction ends. `names` must be sorted by `sortScopeNames`, and everybody
 * locks totals after vouchers: whoever holds a total waits for no voucher.
 */
export const lockTotals = (
  tx: Queryable,
  names: readonly ScopeName[],
): Promise<readonly ScopeName[]> =>
  selectNames(tx, names, { name: "lock-totals", lock: "for no key update" });

/** Holds those of the rows that nobody else holds, and leaves the others out. */
export const lockFreeTotals = (
  tx: Queryable,
  names: readonly ScopeName[],
): Promise<readonly ScopeName[]> =>
  selectNames(tx, names, { name: "lock-free-totals", lock: "for no key update skip locked" });

/** Sorts by project and scope and drops repeats: the order in which rows are locked everywhere. */
export function sortScopeNames(names: Iterable<ScopeName>): readonly ScopeName[] {
  const byKey = new Map<string, ScopeName>();
  for (const name of names) byKey.set(rowKey(name.projectId, name.scopeId), name);
  const keys = [...byKey.keys()].toSorted();
  return keys.flatMap((key) => byKey.get(key) ?? []);
}

async function selectNames(
  tx: Queryable,
  names: readonly ScopeName[],
  { name, lock }: { readonly name: string; readonly lock: string },
): Promise<readonly ScopeName[]> {
  if (names.length === 0) return [];
  const { rows } = await tx.query<{ project_id: string; scope_id: string }>({
    name,
    text: `select t.project_id, t.scope_id
             from unnest($1::text[], $2::text[]) as name (project_id, scope_id)
            cross join lateral (
                    select project_id, scope_id from redemption_total
                     where project_id = name.project_id and scope_id = name.scope_id
                     limit 1
                       ${lock}
                  ) t`,
    values: nameValues(names),
  });
  return rows.map((row) => ({ projectId: row.project_id, scopeId: row.scope_id }));
}

const nameValues = (names: readonly ScopeName[]) => [
  textArray(names.map(({ projectId }) => projectId)),
  textArray(names.map(({ scopeId }) => scopeId)),
];

type Total = ScopeName & {
  readonly redemptions: bigint;
  readonly ordersAmount: bigint;
  readonly discountedAmount: bigint;
  readonly giftCredits: bigint;
};

type UnitsTotal = ScopeName & { readonly productId: string; readonly quantity: bigint };

/** One for each scope and each of its products. */
type Sums = { readonly totals: readonly Total[]; readonly units: readonly UnitsTotal[] };

/**
 * Adds to the totals of campaigns and tiers, or takes off again. Their rows must be locked. The rows
 * exist, so the insert always meets a conflict and finds its row through the key, whatever the planner
 * thinks of the size of the batch; of units the first of a product makes its row, and the lock of
 * their total keeps two from making the same.
 */
export async function moveTotals(
  tx: Queryable,
  additions: readonly Addition[],
  direction: "up" | "down",
): Promise<void> {
  const { totals, units } = sumUp(additions);
  const sign = direction === "up" ? "+" : "-";
  const statements: Statement[] = [];
  if (totals.length > 0) {
    statements.push({
      name: `move-totals-${direction}`,
      text: MOVE_TOTALS.replaceAll("±", sign),
      values: [
        ...nameValues(totals),
        int8Array(totals.map(({ redemptions }) => redemptions)),
        int8Array(totals.map(({ ordersAmount }) => ordersAmount)),
        int8Array(totals.map(({ discountedAmount }) => discountedAmount)),
        int8Array(totals.map(({ giftCredits }) => giftCredits)),
      ],
    });
  }
  if (units.length > 0) {
    statements.push({
      name: `move-units-${direction}`,
      text: MOVE_UNITS.replaceAll("±", sign),
      values: [
        ...nameValues(units),
        textArray(units.map(({ productId }) => productId)),
        int8Array(units.map(({ quantity }) => quantity)),
      ],
    });
  }
  await Promise.all(statements.map((statement) => tx.query(statement)));
}

const MOVE_TOTALS = `
  insert into redemption_total as t
         (project_id, scope_id, redemptions, orders_amount, discounted_amount, gift_credits)
  select * from unnest($1::text[], $2::text[], $3::int8[], $4::int8[], $5::int8[], $6::int8[])
      on conflict (project_id, scope_id) do update
     set redemptions = t.redemptions ± excluded.redemptions,
         orders_amount = t.orders_amount ± excluded.orders_amount,
         discounted_amount = t.discounted_amount ± excluded.discounted_amount,
         gift_credits = t.gift_credits ± excluded.gift_credits`;

const MOVE_UNITS = `
  insert into redemption_units as u (project_id, scope_id, product_id, quantity)
  select * from unnest($1::text[], $2::text[], $3::text[], $4::int8[])
      on conflict (project_id, scope_id, product_id) do update
     set quantity = u.quantity ± excluded.quantity`;

function sumUp(additions: readonly Addition[]): Sums {
  const totals = new Map<string, Total>();
  const units = new Map<string, UnitsTotal>();
  for (const addition of additions) {
    const { projectId, tierId, campaignId } = addition;
    for (const scopeId of [tierId, campaignId]) {
      if (scopeId === null) continue;
      const key = rowKey(projectId, scopeId);
      const before = totals.get(key);
      totals.set(key, {
        projectId,
        scopeId,
        redemptions: (before?.redemptions ?? 0n) + 1n,
        ordersAmount: (before?.ordersAmount ?? 0n) + addition.orderAmount,
        discountedAmount: (before?.discountedAmount ?? 0n) + addition.discountedAmount,
        giftCredits: (before?.giftCredits ?? 0n) + addition.credits,
      });
      for (const { productId, quantity } of addition.units) {
        const unitKey = rowKey(key, productId);
        const earlier = units.get(unitKey)?.quantity ?? 0n;
        units.set(unitKey, { projectId, scopeId, productId, quantity: earlier + quantity });
      }
    }
  }
  return { totals: [...totals.values()], units: [...units.values()] };
}
