/**
 * Records rows that other transactions locked for longer than a batch may wait. The following batches lock them
 * only when they are free, so that one row that is locked for long (a manual edit, a process that hangs) costs
 * all other redemptions one short wait only (docs/sessions.md#contention).
 */
export type Contention = {
  /**
   * The rows that a batch must not wait for now. When a mark has expired, this one caller may wait to find out
   * whether the row is still locked; other callers still skip it.
   */
  readonly contended: (keys: readonly string[]) => ReadonlySet<string>;
  readonly record: (met: LockResult) => void;
};

export type LockResult = {
  /** Rows that this batch locked: later batches wait for them again. */
  readonly locked: Iterable<string>;
  readonly lockedByOthers: Iterable<string>;
  /** Whether the batch waited for them in vain. */
  readonly waited: boolean;
};

type Mark = { readonly until: number; readonly lastsMs: number };

const FIRST_MARK_MS = 2_000;
const LONGEST_MARK_MS = 8_000;
/** Bounds memory: marks of deleted vouchers would accumulate. */
const MAX_MARKS = 1_000;

export function createContention(now: () => number = () => performance.now()): Contention {
  const marks = new Map<string, Mark>();

  const mark = (key: string, waited: boolean): void => {
    const known = marks.get(key);
    if (known !== undefined && !waited) return;
    const lastsMs = known ? Math.min(known.lastsMs * 2, LONGEST_MARK_MS) : FIRST_MARK_MS;
    marks.set(key, { lastsMs, until: now() + lastsMs });
    const [oldest] = marks.keys();
    if (marks.size > MAX_MARKS && oldest !== undefined) marks.delete(oldest);
  };

  return {
    contended(keys) {
      const skipped = new Set<string>();
      if (marks.size === 0) return skipped;
      for (const key of keys) {
        const known = marks.get(key);
        if (known === undefined) continue;
        if (known.until > now()) skipped.add(key);
        else marks.set(key, { ...known, until: now() + known.lastsMs });
      }
      return skipped;
    },
    record({ locked, lockedByOthers, waited }) {
      if (marks.size > 0) for (const key of locked) marks.delete(key);
      for (const key of lockedByOthers) mark(key, waited);
    },
  };
}
