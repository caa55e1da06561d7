import {
  batchOf,
  buildStatement,
  column,
  type ColumnTable,
  type Queryable,
  type Statement,
  summedAssignments,
  textArray,
} from "@scrip/postgres";

import type { CountIncrement } from "../domain/counts.ts";
import { rowKey } from "../domain/usage.ts";

/** A campaign or a promotion tier, whose row of `redemption_total` is also its lock. */
export type ScopeKey = { readonly projectId: string; readonly scopeId: string };

/** Creates missing rows: a row that does not exist cannot be locked. */
export async function ensureTotals(db: Queryable, names: readonly ScopeKey[]): Promise<void> {
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
 * Locks the rows until the transaction ends. `names` must be sorted by `sortScopeKeys`. Everybody locks totals after
 * vouchers, so a transaction that holds a total never waits for a voucher.
 */
export const lockTotals = (
  tx: Queryable,
  names: readonly ScopeKey[],
): Promise<readonly ScopeKey[]> =>
  selectNames(tx, names, { name: "lock-totals", lock: "for no key update" });

/** Locks the rows that are free and skips the others. */
export const lockFreeTotals = (
  tx: Queryable,
  names: readonly ScopeKey[],
): Promise<readonly ScopeKey[]> =>
  selectNames(tx, names, { name: "lock-free-totals", lock: "for no key update skip locked" });

/** Sorts by project and scope without duplicates: the order in which everybody locks. */
export function sortScopeKeys(names: Iterable<ScopeKey>): readonly ScopeKey[] {
  const byKey = new Map<string, ScopeKey>();
  for (const name of names) byKey.set(rowKey(name.projectId, name.scopeId), name);
  const keys = [...byKey.keys()].toSorted();
  return keys.flatMap((key) => byKey.get(key) ?? []);
}

async function selectNames(
  tx: Queryable,
  names: readonly ScopeKey[],
  { name, lock }: { readonly name: string; readonly lock: string },
): Promise<readonly ScopeKey[]> {
  if (names.length === 0) return [];
  const { rows } = await tx.query<{ project_id: string; scope_id: string }>({
    name,
    planning: "indexLookups",
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

const nameValues = (names: readonly ScopeKey[]) => [
  textArray(names.map(({ projectId }) => projectId)),
  textArray(names.map(({ scopeId }) => scopeId)),
];

type Total = ScopeKey & {
  readonly redemptions: bigint;
  readonly ordersAmount: bigint;
  readonly discountedAmount: bigint;
  readonly giftCredits: bigint;
};

type UnitsTotal = ScopeKey & { readonly productId: string; readonly quantity: bigint };

/** One sum for each scope, and for each of its products. */
type Sums = { readonly totals: readonly Total[]; readonly units: readonly UnitsTotal[] };

/**
 * Adds to the totals of campaigns and tiers, or subtracts from them. Their rows must be locked. The rows exist, so the
 * insert always meets a conflict and finds its row through the key, regardless of the planner's estimate of the batch size. The
 * first units of a product create their row; the lock of the total prevents concurrent creation.
 */
export async function moveTotals(
  tx: Queryable,
  increments: readonly CountIncrement[],
  direction: "up" | "down",
): Promise<void> {
  const { totals, units } = sumUp(increments);
  const { moveTotalsBy, moveUnitsBy } = direction === "up" ? ADD : SUBTRACT;
  const statements: Statement[] = [];
  if (totals.length > 0) statements.push(moveTotalsBy({ totals }));
  if (units.length > 0) statements.push(moveUnitsBy({ units }));
  await Promise.all(statements.map((statement) => tx.query(statement)));
}

const sumColumns: ColumnTable<Total> = {
  redemptions: column.int8(({ redemptions }) => redemptions),
  orders_amount: column.int8(({ ordersAmount }) => ordersAmount),
  discounted_amount: column.int8(({ discountedAmount }) => discountedAmount),
  gift_credits: column.int8(({ giftCredits }) => giftCredits),
};

const totalColumns: ColumnTable<Total> = {
  project_id: column.text(({ projectId }) => projectId),
  scope_id: column.text(({ scopeId }) => scopeId),
  ...sumColumns,
};

const unitsColumns: ColumnTable<UnitsTotal> = {
  project_id: column.text(({ projectId }) => projectId),
  scope_id: column.text(({ scopeId }) => scopeId),
  product_id: column.text(({ productId }) => productId),
  quantity: column.int8(({ quantity }) => quantity),
};

const statementsOf = (direction: "up" | "down", sign: "+" | "-") => ({
  moveTotalsBy: buildStatement({
    name: `move-totals-${direction}`,
    parts: { totals: batchOf(totalColumns) },
    text: ({ totals }) => `
      insert into redemption_total as t (${totals.columns})
      select ${totals.columns} from ${totals.rows("one")}
          on conflict (project_id, scope_id) do update
         set ${summedAssignments(sumColumns, "t", sign)}`,
  }),
  moveUnitsBy: buildStatement({
    name: `move-units-${direction}`,
    parts: { units: batchOf(unitsColumns) },
    text: ({ units }) => `
      insert into redemption_units as u (${units.columns})
      select ${units.columns} from ${units.rows("one")}
          on conflict (project_id, scope_id, product_id) do update
         set quantity = u.quantity ${sign} excluded.quantity`,
  }),
});

const ADD = statementsOf("up", "+");
const SUBTRACT = statementsOf("down", "-");

function sumUp(increments: readonly CountIncrement[]): Sums {
  const totals = new Map<string, Total>();
  const units = new Map<string, UnitsTotal>();
  for (const increment of increments) {
    const { projectId, tierId, campaignId } = increment;
    for (const scopeId of [tierId, campaignId]) {
      if (scopeId === null) continue;
      const key = rowKey(projectId, scopeId);
      const before = totals.get(key);
      totals.set(key, {
        projectId,
        scopeId,
        redemptions: (before?.redemptions ?? 0n) + 1n,
        ordersAmount: (before?.ordersAmount ?? 0n) + increment.orderAmount,
        discountedAmount: (before?.discountedAmount ?? 0n) + increment.discountedAmount,
        giftCredits: (before?.giftCredits ?? 0n) + increment.credits,
      });
      for (const { productId, quantity } of increment.units) {
        const unitKey = rowKey(key, productId);
        const earlier = units.get(unitKey)?.quantity ?? 0n;
        units.set(unitKey, { projectId, scopeId, productId, quantity: earlier + quantity });
      }
    }
  }
  return { totals: [...totals.values()], units: [...units.values()] };
}
