import type { Database, Queryable } from "@scrip/postgres";
import type { ChangeAudited } from "@scrip/proto/scrip/events/v1/audit_pb";

import { auditEntryFromEvent } from "../mapping/audit-entry.ts";
import { lockDays, openDays, saveDays } from "../store/audit-days.ts";
import { findStoredEntries, insertAuditEntries } from "../store/audit-entries.ts";
import { type AuditEntry, chainEntries, dayKey, dayOf, entryKey } from "./chain-entries.ts";

/** A process of an earlier release, which locks no day, has stored one of the entries since they were looked up. */
class StoredConcurrently extends Error {
  constructor() {
    super("another process has stored an entry of the audit log");
    this.name = "StoredConcurrently";
  }
}

/**
 * Adds entries to the audit log in the caller's transaction; entries that are stored already stay as they are. Other writers
 * of a project's day wait until the transaction ends: positions have no gaps, and each entry knows the one before it.
 */
export async function appendEntries(
  tx: Queryable,
  changes: readonly Readonly<ChangeAudited>[],
): Promise<void> {
  const entries = distinct(changes.map(auditEntryFromEvent));
  if (entries.length === 0) return;
  const days = daysOf(entries);
  await openDays(tx, days);
  const locked = await lockDays(tx, days);
  const stored = await findStoredEntries(tx, entries);
  const added = entries.filter((entry) => !stored.has(entryKey(entry)));
  if (added.length === 0) return;
  const chained = chainEntries(locked, added);
  if ((await insertAuditEntries(tx, chained.entries)) < added.length)
    throw new StoredConcurrently();
  await saveDays(tx, chained.days);
}

const MAX_ATTEMPTS = 3;

/** Adds entries in a transaction of its own. Repeatable. */
export async function appendInTransaction(
  db: Database,
  changes: readonly Readonly<ChangeAudited>[],
): Promise<void> {
  if (changes.length === 0) return;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await db.transaction((tx) => appendEntries(tx, changes));
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !(error instanceof StoredConcurrently)) throw error;
    }
  }
}

/** Events may be delivered twice in a batch. */
const distinct = (entries: readonly AuditEntry[]): readonly AuditEntry[] => [
  ...new Map(entries.map((entry) => [entryKey(entry), entry])).values(),
];

const daysOf = (entries: readonly AuditEntry[]) => {
  const days = entries.map((entry) => ({ projectId: entry.projectId, day: dayOf(entry) }));
  return [...new Map(days.map((day) => [dayKey(day), day])).values()];
};
