import type {
  AuditScope,
  ChainEnd,
  DayRecord,
  EntryRecord,
  ProjectRecords,
} from "./audit-records.ts";
import { hashEntry } from "./chain-entries.ts";

/** The first fault of a project's day. */
export type AuditFault = {
  readonly projectId: string;
  readonly day: string;
  /** Id of the wrong entry; null: something is missing. */
  readonly entryId: string | null;
  readonly details: string;
};

/** What has been read. */
export type AuditCounts = {
  entries: number;
  /** Entries from before the first chain. */
  unchained: number;
};

type Fault = Omit<AuditFault, "projectId">;

/**
 * Recomputes the chains of a project: each entry follows the one before it, each day ends with the entry that it names, and
 * the entries that later days and stored ends contain exist. Yields the first fault of each day.
 */
export async function* verifyProject(
  { projectId, days, entries }: ProjectRecords,
  {
    scope,
    ends,
    counts,
  }: {
    readonly scope: AuditScope;
    /** Ends of this project's chains that were stored earlier. */
    readonly ends: readonly ChainEnd[];
    readonly counts: AuditCounts;
  },
): AsyncGenerator<AuditFault> {
  const expected = expectationsOf(days, { ends, scope });
  const found = new Map<string, string | null>(expected.map(({ name }) => [name, null]));
  const unread = new Map(days.map((each) => [each.day, each]));
  const faulty = new Set<string>();
  function* report(fault: Fault | null): Generator<AuditFault> {
    if (fault === null || faulty.has(fault.day)) return;
    faulty.add(fault.day);
    yield { projectId, ...fault };
  }
  let chain: Chain | null = null;
  for await (const entry of entries) {
    counts.entries += 1;
    const day = entry.occurred_at.slice(0, 10);
    if (chain?.day !== day) {
      if (chain !== null) yield* report(faultOfEnd(chain));
      chain = openChain(day, unread.get(day));
      unread.delete(day);
    }
    if (entry.hash === null && entry.occurred_at < scope.chainedSince) {
      counts.unchained += 1;
      continue;
    }
    const details = follow(chain, entry);
    yield* report(details === null ? null : { day, entryId: entry.id, details });
    const name = nameOf(day, entry.position ?? "");
    if (found.has(name)) found.set(name, entry.hash);
  }
  if (chain !== null) yield* report(faultOfEnd(chain));
  for (const { day, entries: count } of unread.values()) {
    const details = `all entries are missing: ${count}`;
    yield* report(count === "0" ? null : { day, entryId: null, details });
  }
  for (const { name, hash, day, details } of expected) {
    yield* report(found.get(name) === hash ? null : { day, entryId: null, details });
  }
}

/** The chain of a day, as far as it is read. */
type Chain = {
  readonly day: string;
  /** Undefined: the day is not stored. */
  readonly end: DayRecord | undefined;
  position: bigint;
  hash: string | null;
};

const openChain = (day: string, end: DayRecord | undefined): Chain => ({
  day,
  end,
  position: 0n,
  hash: end?.previous_hash ?? null,
});

/** Adds an entry to the chain, and returns what is wrong with it. */
function follow(chain: Chain, entry: EntryRecord): string | null {
  const { position, previous_hash: previousHash, hash } = entry;
  if (hash === null || position === null) return "has no hash";
  if (chain.end === undefined) return "belongs to a day whose end is not stored";
  const next = chain.position + 1n;
  if (BigInt(position) < next) return `has the position of another entry, ${position}`;
  if (BigInt(position) > next) return `follows entry ${chain.position}: ${next} is missing`;
  if (previousHash !== chain.hash) return "does not contain the hash of the entry before it";
  const computed = hashOf(entry, next);
  if (computed !== hash) return `has the hash ${hash} instead of ${computed}`;
  chain.position = next;
  chain.hash = hash;
  return null;
}

const hashOf = (entry: EntryRecord, position: bigint): string =>
  hashEntry(
    {
      projectId: entry.project_id,
      id: entry.id,
      action: entry.action,
      resource: entry.resource,
      resourceId: entry.resource_id,
      fields: entry.fields,
      actorType: entry.actor_type,
      actorId: entry.actor_id,
      requestId: entry.request_id,
      at: Date.parse(entry.occurred_at),
    },
    position,
    entry.previous_hash === null ? null : Buffer.from(entry.previous_hash, "hex"),
  ).toString("hex");

function faultOfEnd({ day, end, position, hash }: Chain): Fault | null {
  if (end === undefined) return null;
  const missing = `entry ${position + 1n} of ${end.entries} is missing`;
  if (position < BigInt(end.entries)) return { day, entryId: null, details: missing };
  if (String(position) === end.entries && hash === end.last_hash) return null;
  return { day, entryId: null, details: `its end is not entry ${position}` };
}

/** An entry that must exist with this hash, and the fault of a day if it does not. */
type Expectation = {
  readonly name: string;
  readonly hash: string | null;
  readonly day: string;
  readonly details: string;
};

function expectationsOf(
  days: readonly DayRecord[],
  {
    ends,
    scope: { oldestDay },
  }: { readonly ends: readonly ChainEnd[]; readonly scope: AuditScope },
): readonly Expectation[] {
  const ofDays = days.flatMap(
    ({ day, previous_day: other, previous_position: position, previous_hash: hash }) =>
      other === null || position === null || other < oldestDay
        ? []
        : [
            {
              name: nameOf(other, position),
              hash,
              day,
              details: `continues entry ${position} of ${other}, which is missing or was changed`,
            },
          ],
  );
  const ofEnds = ends
    .filter(({ day }) => day >= oldestDay)
    .map(({ day, position, hash }) => ({
      name: nameOf(day, position),
      hash,
      day,
      details: `entry ${position} is missing or was changed since its hash was written to a file`,
    }));
  return [...ofDays, ...ofEnds];
}

const nameOf = (day: string, position: string): string => `${day} ${position}`;
