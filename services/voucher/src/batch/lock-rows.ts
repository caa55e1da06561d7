import type { Queryable } from "@scrip/postgres";

import { type CommitCommand, type Part, rowsNeededBy } from "../domain/commit.ts";
import { rowKey, type VoucherUsage } from "../domain/usage.ts";
import { lockFreeTotals, lockTotals, type ScopeKey, sortScopeKeys } from "../store/totals.ts";
import {
  findUsages,
  lockFreeUsages,
  lockUsages,
  sortUsageKeys,
  type UsageKey,
} from "../store/usages.ts";

/** The rows that a batch locks, without duplicates, in the order that everybody locks in: vouchers, then totals. */
export type RowKeys = {
  readonly vouchers: readonly UsageKey[];
  /** Campaigns and promotion tiers. */
  readonly scopes: readonly ScopeKey[];
};

/** The rows of a batch after locking, by `rowKey` of project and id. */
export type LockedRows = {
  readonly usages: ReadonlyMap<string, VoucherUsage>;
  readonly scopes: ReadonlySet<string>;
  /** Rows that other transactions have locked. */
  readonly lockedByOthers: ReadonlySet<string>;
};

/** The rows that the commands change, and those of the counts that their guards read. */
export function rowsToLock(commands: readonly CommitCommand[]): RowKeys {
  const vouchers: UsageKey[] = [];
  const scopes: ScopeKey[] = [];
  for (const { projectId, parts, isRejection } of commands) {
    if (isRejection) continue;
    for (const part of parts) {
      if (isPlain(part)) {
        vouchers.push({ projectId, voucherId: part.voucherId });
        continue;
      }
      const rows = rowsNeededBy(part);
      for (const voucherId of rows.vouchers) vouchers.push({ projectId, voucherId });
      for (const scopeId of rows.scopes) scopes.push({ projectId, scopeId });
    }
  }
  return sortRowKeys(vouchers, scopes);
}

/** The most frequent case: a standalone code without guards. */
const isPlain = (part: Part): part is Part & { readonly voucherId: string } =>
  part.voucherId !== null && part.campaignId === null && part.guards.length === 0;

export const sortRowKeys = (
  vouchers: readonly UsageKey[],
  scopes: readonly ScopeKey[] = [],
): RowKeys => ({ vouchers: sortUsageKeys(vouchers), scopes: sortScopeKeys(scopes) });

export const contentionKeys = ({ vouchers, scopes }: RowKeys): readonly string[] => [
  ...vouchers.map(voucherKey),
  ...scopes.map(scopeKey),
];

const voucherKey = ({ projectId, voucherId }: UsageKey): string => rowKey(projectId, voucherId);
const scopeKey = ({ projectId, scopeId }: ScopeKey): string => rowKey(projectId, scopeId);

/**
 * Locks the rows in order and waits for each; contended rows are locked only when they are free. Contended
 * vouchers come last, so that no batch waits for a voucher while it holds them, and a batch that holds a total
 * never waits for a voucher. Therefore nothing can deadlock although this breaks the order.
 */
export async function lockRows(
  tx: Queryable,
  { vouchers, scopes }: RowKeys,
  contended: ReadonlySet<string>,
): Promise<LockedRows> {
  const [eager, careful] = split(vouchers, voucherKey, contended);
  const [eagerScopes, carefulScopes] = split(scopes, scopeKey, contended);
  const [waited, free, waitedScopes, freeScopes] = await Promise.all([
    lockUsages(tx, eager),
    lockFreeUsages(tx, careful),
    lockTotals(tx, eagerScopes),
    lockFreeTotals(tx, carefulScopes),
  ]);
  const usages = new Map([...waited, ...free].map((usage) => [voucherKey(usage), usage]));
  const lockedScopes = new Set([...waitedScopes, ...freeScopes].map(scopeKey));
  const missing = careful.filter((name) => !usages.has(voucherKey(name)));
  // A row that does not exist is not locked by others: its redemption is rejected because it is missing.
  const lockedVouchers = missing.length === 0 ? [] : await findUsages(tx, missing);
  return {
    usages,
    scopes: lockedScopes,
    lockedByOthers: new Set([
      ...lockedVouchers.map(voucherKey),
      ...carefulScopes.map(scopeKey).filter((key) => !lockedScopes.has(key)),
    ]),
  };
}

function split<Name>(
  names: readonly Name[],
  keyOf: (name: Name) => string,
  contended: ReadonlySet<string>,
): readonly [readonly Name[], readonly Name[]] {
  if (contended.size === 0) return [names, []];
  return [
    names.filter((name) => !contended.has(keyOf(name))),
    names.filter((name) => contended.has(keyOf(name))),
  ];
}
