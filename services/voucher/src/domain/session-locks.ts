import { rowKey } from "./usage.ts";

/** Redemptions, and credits or points, that sessions hold of a voucher. */
export type Locked = { readonly quantity: bigint; readonly credits: bigint };

export type SessionLock = {
  readonly projectId: string;
  readonly sessionKey: string;
  readonly voucherId: string;
  readonly credits: bigint;
};

/** What live sessions hold, as far as it matters to a batch. */
export type KnownLocks = {
  /** Of the vouchers that are marked as reserved, by `rowKey` of project and voucher. */
  readonly totals: ReadonlyMap<string, Locked>;
  /** All that the sessions hold which the batch names. */
  readonly own: readonly SessionLock[];
};

export const NO_LOCKS: KnownLocks = { totals: new Map(), own: [] };

const NOTHING: Locked = { quantity: 0n, credits: 0n };

/** Locks as the commands of a batch give and release them. */
export type SessionLocks = {
  /** Without what this session holds itself: a key never conflicts with itself. */
  ofOthers(projectId: string, voucherId: string, sessionKey: string | null): Locked;
  /** Everything that the session holds is free, whatever it is of. */
  release(projectId: string, sessionKey: string): void;
  hold(lock: SessionLock): void;
};

export function createSessionLocks(known: KnownLocks): SessionLocks {
  const totals = new Map(known.totals);
  const own = Map.groupBy(known.own, ({ projectId, sessionKey }) => rowKey(projectId, sessionKey));
  const move = (lock: SessionLock, sign: 1n | -1n): void => {
    const key = rowKey(lock.projectId, lock.voucherId);
    const { quantity, credits } = totals.get(key) ?? NOTHING;
    totals.set(key, { quantity: quantity + sign, credits: credits + sign * lock.credits });
  };
  return {
    ofOthers(projectId, voucherId, sessionKey) {
      const total = totals.get(rowKey(projectId, voucherId));
      if (total === undefined) return NOTHING;
      if (sessionKey === null) return total;
      let { quantity, credits } = total;
      for (const lock of own.get(rowKey(projectId, sessionKey)) ?? []) {
        if (lock.voucherId !== voucherId) continue;
        quantity -= 1n;
        credits -= lock.credits;
      }
      return { quantity, credits };
    },
    release(projectId, sessionKey) {
      const key = rowKey(projectId, sessionKey);
      for (const lock of own.get(key) ?? []) {
        // Of a voucher that nobody counted the locks do not matter.
        if (totals.has(rowKey(projectId, lock.voucherId))) move(lock, -1n);
      }
      own.delete(key);
    },
    hold(lock) {
      const key = rowKey(lock.projectId, lock.sessionKey);
      own.set(key, [...(own.get(key) ?? []), lock]);
      move(lock, 1n);
    },
  };
}
