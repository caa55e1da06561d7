import type { Queryable } from "@scrip/postgres";

import { type CommitCommand, type Part, rowsOf } from "../domain/commit.ts";
import { rowKey, type VoucherUsage } from "../domain/usage.ts";
import { lockFreeTotals, lockTotals, type ScopeName, sortScopeNames } from "../store/totals.ts";
import {
  findUsages,
  lockFreeUsages,
  lockUsages,
  sortUsageNames,
  type UsageName,
} from "../store/usages.ts";

/** What a batch locks, each once, in the order in which all lock: vouchers, then totals. */
export type RowNames = {
  readonly vouchers: readonly UsageName[];
  /** Campaigns and promotion tiers. */
  readonly scopes: readonly ScopeName[];
};

/** What became of the rows of a batch, by `rowKey` of project and id. */
export type LockedRows = {
  readonly usages: ReadonlyMap<string, VoucherUsage>;
  readonly scopes: ReadonlySet<string>;
  /** Somebody else holds them. */
  readonly held: ReadonlySet<string>;
};

/** What the commands take from, add to and count in. */
export function namesToLock(commands: readonly CommitCommand[]): RowNames {
  const vouchers: UsageName[] = [];
  const scopes: ScopeName[] = [];
  for (const { projectId, parts, refused } of commands) {
    if (refused) continue;
    for (const part of parts) {
      if (isPlain(part)) {
        vouchers.push({ projectId, voucherId: part.voucherId });
        continue;
      }
      const rows = rowsOf(part);
      for (const voucherId of rows.vouchers) vouchers.push({ projectId, voucherId });
      for (const scopeId of rows.scopes) scopes.push({ projectId, scopeId });
    }
  }
  return namesOf(vouchers, scopes);
}

/** Most are: a code of no campaign, with nothing to count. */
const isPlain = (part: Part): part is Part & { readonly voucherId: string } =>
  part.voucherId !== null && part.campaignId === null && part.guards.length === 0;

export const namesOf = (
  vouchers: readonly UsageName[],
  scopes: readonly ScopeName[] = [],
): RowNames => ({ vouchers: sortUsageNames(vouchers), scopes: sortScopeNames(scopes) });

export const keysOf = ({ vouchers, scopes }: RowNames): readonly string[] => [
  ...vouchers.map(voucherKey),
  ...scopes.map(scopeKey),
];

const voucherKey = ({ projectId, voucherId }: UsageName): string => rowKey(projectId, voucherId);
const scopeKey = ({ projectId, scopeId }: ScopeName): string => rowKey(projectId, scopeId);

/**
 * Locks the rows: waits for each in turn, except that those to avoid are only taken when they are
 * free. Of the vouchers these come last, so that nobody waits for a voucher while holding them; and
 * whoever holds a total waits for no voucher. So although it breaks the order, nothing can deadlock.
 */
export async function lockRows(
  tx: Queryable,
  { vouchers, scopes }: RowNames,
  avoided: ReadonlySet<string>,
): Promise<LockedRows> {
  const [eager, careful] = split(vouchers, voucherKey, avoided);
  const [eagerScopes, carefulScopes] = split(scopes, scopeKey, avoided);
  const [waited, free, waitedScopes, freeScopes] = await Promise.all([
    lockUsages(tx, eager),
    lockFreeUsages(tx, careful),
    lockTotals(tx, eagerScopes),
    lockFreeTotals(tx, carefulScopes),
  ]);
  const usages = new Map([...waited, ...free].map((usage) => [voucherKey(usage), usage]));
  const lockedScopes = new Set([...waitedScopes, ...freeScopes].map(scopeKey));
  const missing = careful.filter((name) => !usages.has(voucherKey(name)));
  // One that does not exist is not held either: its redemption is refused for that.
  const held = missing.length === 0 ? [] : await findUsages(tx, missing);
  return {
    usages,
    scopes: lockedScopes,
    held: new Set([
      ...held.map(voucherKey),
      ...carefulScopes.map(scopeKey).filter((key) => !lockedScopes.has(key)),
    ]),
  };
}

function split<Name>(
  names: readonly Name[],
  keyOf: (name: Name) => string,
  avoided: ReadonlySet<string>,
): readonly [readonly Name[], readonly Name[]] {
  if (avoided.size === 0) return [names, []];
  return [
    names.filter((name) => !avoided.has(keyOf(name))),
    names.filter((name) => avoided.has(keyOf(name))),
  ];
}
