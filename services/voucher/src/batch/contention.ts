/**
 * Vouchers that somebody else held for longer than a batch may wait. The batches that come next take
 * them only when they are free, so that one voucher that is held for long (an edit by hand, a
 * process that hangs) costs the redemptions of all others one short wait and no more.
 */
export type Contention = {
  /**
   * Those of these vouchers that must not be waited for now. Where a mark has run out the caller
   * is the one that may wait to see whether the voucher is still held; others keep avoiding it.
   */
  readonly avoided: (keys: readonly string[]) => ReadonlySet<string>;
  readonly settle: (met: Met) => void;
};

export type Met = {
  /** Vouchers that were locked: they are waited for again from now on. */
  readonly locked: Iterable<string>;
  readonly held: Iterable<string>;
  /** Whether the batch has waited, in vain, before it met them. */
  readonly waited: boolean;
};

type Mark = { readonly until: number; readonly lastsMs: number };

const FIRST_MARK_MS = 2_000;
const LONGEST_MARK_MS = 8_000;
/** More vouchers than that are not held at once; without a limit deleted ones would pile up. */
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
    avoided(keys) {
      const avoided = new Set<string>();
      if (marks.size === 0) return avoided;
      for (const key of keys) {
        const known = marks.get(key);
        if (known === undefined) continue;
        if (known.until > now()) avoided.add(key);
        else marks.set(key, { ...known, until: now() + known.lastsMs });
      }
      return avoided;
    },
    settle({ locked, held, waited }) {
      if (marks.size > 0) for (const key of locked) marks.delete(key);
      for (const key of held) mark(key, waited);
    },
  };
}
