import { hash } from "node:crypto";

/** An entry of the audit log. */
export type AuditEntry = {
  readonly projectId: string;
  readonly id: string;
  readonly action: string;
  /** Empty: the request changed a batch. */
  readonly resource: string;
  readonly resourceId: string;
  readonly fields: readonly string[];
  readonly actorType: string;
  readonly actorId: string;
  readonly requestId: string;
  /** Real time, in epoch milliseconds. */
  readonly at: number;
};

/** The last entry of a project's day. */
export type DayEnd = {
  /** The first instant of the day (UTC), in epoch milliseconds. */
  readonly day: number;
  readonly position: bigint;
  readonly hash: Uint8Array;
};

/** A day of a project, and where its chain begins and ends. */
export type AuditDay = {
  readonly projectId: string;
  readonly day: number;
  readonly end: DayEnd | null;
  /** The end of the project's latest other day when this day got its first entry: the chain continues it. */
  readonly previous: DayEnd | null;
};

export type ChainedEntry = AuditEntry & {
  readonly position: bigint;
  readonly previousHash: Uint8Array | null;
  readonly hash: Uint8Array;
};

const DAY_MS = 24 * 3_600_000;

export const dayOf = ({ at }: Pick<AuditEntry, "at">): number => Math.floor(at / DAY_MS) * DAY_MS;

/** Names an entry in a map. */
export const entryKey = ({ projectId, id }: Pick<AuditEntry, "projectId" | "id">): string =>
  `${projectId} ${id}`;

/** Names a project's day in a map. */
export const dayKey = ({ projectId, day }: Pick<AuditDay, "projectId" | "day">): string =>
  `${projectId} ${day}`;

/**
 * SHA-256 of the canonical form of an entry: a JSON array as in RFC 8785, which does not depend on how the database stores
 * the entry. Its first item names the form, so that it can change; its last one is the hash of the entry before it.
 */
export const hashEntry = (
  entry: AuditEntry,
  position: bigint,
  previousHash: Uint8Array | null,
): Buffer =>
  hash(
    "sha256",
    JSON.stringify([
      "scrip-audit-1",
      entry.projectId,
      String(position),
      entry.id,
      entry.action,
      entry.resource,
      entry.resourceId,
      entry.fields,
      entry.actorType,
      entry.actorId,
      entry.requestId,
      new Date(entry.at).toISOString(),
      previousHash === null ? null : Buffer.from(previousHash).toString("hex"),
    ]),
    "buffer",
  );

/**
 * Links new entries to the chains of their days: earlier days first, and in this order within a day. Returns the changed
 * days with their new ends. The `previous` of a day without an end is the latest other day that is stored.
 */
export function chainEntries(
  days: readonly AuditDay[],
  entries: readonly AuditEntry[],
): { readonly days: readonly AuditDay[]; readonly entries: readonly ChainedEntry[] } {
  const stored = new Map(days.map((day) => [dayKey(day), day]));
  const changed = new Map<string, AuditDay>();
  const latest = new Map<string, DayEnd>();
  const sorted = entries.toSorted((a, b) => dayOf(a) - dayOf(b));
  const chained = sorted.map((entry): ChainedEntry => {
    const { projectId } = entry;
    const day = dayOf(entry);
    const key = dayKey({ projectId, day });
    const before = changed.get(key) ?? stored.get(key);
    if (before === undefined) throw new Error(`the day of entry ${entry.id} is not open`);
    const { end } = before;
    const previous =
      end === null ? laterOf(before.previous, latest.get(projectId)) : before.previous;
    const position = (end?.position ?? 0n) + 1n;
    const previousHash = (end ?? previous)?.hash ?? null;
    const added = { day, position, hash: hashEntry(entry, position, previousHash) };
    changed.set(key, { ...before, previous, end: added });
    latest.set(projectId, added);
    return { ...entry, position, previousHash, hash: added.hash };
  });
  return { days: [...changed.values()], entries: chained };
}

function laterOf(a: DayEnd | null, b: DayEnd | undefined): DayEnd | null {
  if (a === null || b === undefined) return a ?? b ?? null;
  return a.day > b.day ? a : b;
}
