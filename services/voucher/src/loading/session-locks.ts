import type { Queryable } from "@scrip/postgres";

import { type LoadedLocks, NO_LOCKS } from "../domain/session-locks.ts";
import { rowKey, type VoucherUsage } from "../domain/usage.ts";
import { findLockedAmounts, findSessionLocks, type SessionAt } from "../store/reservations.ts";

type Caller = {
  readonly projectId: string;
  readonly sessionKey: string | null;
  readonly at: number;
};

/**
 * Loads the session locks that a batch needs (docs/sessions.md#locks). Reads nothing when no voucher is marked as
 * reserved and no caller has a session.
 */
export async function loadSessionLocks(
  db: Queryable,
  usages: ReadonlyMap<string, VoucherUsage>,
  callers: readonly Caller[],
): Promise<LoadedLocks> {
  const sessions = sessionsOf(callers);
  const reserved = [...usages.values()].filter((usage) => usage.reserved);
  if (reserved.length === 0 && sessions.length === 0) return NO_LOCKS;
  const now = earliestByProject(callers);
  const vouchers = reserved.map(({ projectId, voucherId }) => ({
    projectId,
    voucherId,
    at: now.get(projectId) ?? 0,
  }));
  const [totals, own] = await Promise.all([
    findLockedAmounts(db, vouchers),
    findSessionLocks(db, sessions),
  ]);
  return { totals, own };
}

function sessionsOf(callers: readonly Caller[]): readonly SessionAt[] {
  const sessions = new Map<string, SessionAt>();
  const now = earliestByProject(callers);
  for (const { projectId, sessionKey } of callers) {
    if (sessionKey === null) continue;
    const at = now.get(projectId) ?? 0;
    sessions.set(rowKey(projectId, sessionKey), { projectId, sessionKey, at });
  }
  return [...sessions.values()];
}

/**
 * The callers of a batch are milliseconds apart. All callers of a project use the earliest time, so that totals and
 * own locks are read for the same instant.
 */
function earliestByProject(callers: readonly Caller[]): ReadonlyMap<string, number> {
  const earliest = new Map<string, number>();
  for (const { projectId, at } of callers) {
    earliest.set(projectId, Math.min(earliest.get(projectId) ?? Infinity, at));
  }
  return earliest;
}
