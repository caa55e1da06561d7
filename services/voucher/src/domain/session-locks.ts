import { rowKey } from "./usage.ts";

/** Redemptions and credits of a voucher that sessions lock. */
export type LockedAmounts = { readonly quantity: bigint; readonly credits: bigint };

export type SessionLock = {
  readonly projectId: string;
  readonly sessionKey: string;
  readonly voucherId: string;
  readonly credits: bigint;
};

/** The locks of live sessions that a batch needs. */
export type LoadedLocks = {
  /** For vouchers that are marked as reserved, by `rowKey` of project and voucher. */
  readonly totals: ReadonlyMap<string, LockedAmounts>;
  /** All locks of the sessions that the batch names. */
  readonly own: readonly SessionLock[];
};

export const NO_LOCKS: LoadedLocks = { totals: new Map(), own: [] };

const NOTHING_LOCKED: LockedAmounts = { quantity: 0n, credits: 0n };

/** Locks as the commands of a batch acquire and release them. */
export type SessionLocks = {
  /** Without the locks of this session, which never conflict with itself. */
  ofOthers(projectId: string, voucherId: string, sessionKey: string | null): LockedAmounts;
  /** Releases all locks of the session. */
  release(projectId: string, sessionKey: string): void;
  hold(lock: SessionLock): void;
};

export function createSessionLocks(known: LoadedLocks): SessionLocks {
  const totals = new Map(known.totals);
  const own = Map.groupBy(known.own, ({ projectId, sessionKey }) => rowKey(projectId, sessionKey));
  const move = (lock: SessionLock, sign: 1n | -1n): void => {
    const key = rowKey(lock.projectId, lock.voucherId);
    const { quantity, credits } = totals.get(key) ?? NOTHING_LOCKED;
    totals.set(key, { quantity: quantity + sign, credits: credits + sign * lock.credits });
  };
  return {
    ofOthers(projectId, voucherId, sessionKey) {
      const total = totals.get(rowKey(projectId, voucherId));
      if (total === undefined) return NOTHING_LOCKED;
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
        // Locks on vouchers without a loaded total do not matter to the batch.
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
