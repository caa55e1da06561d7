import { createSessionLocks, type LoadedLocks, type SessionLock } from "./session-locks.ts";
import { rowKey, type VoucherUsage } from "./usage.ts";

export type ReserveCommand = {
  readonly projectId: string;
  readonly sessionKey: string;
  /** All locks of the session from now on. */
  readonly reservations: readonly Reservation[];
};

export type Reservation = {
  readonly voucherId: string;
  readonly definitionVersion: bigint;
  /** Credits of a gift voucher; the loyalty service locks points of cards. */
  readonly credits: bigint;
};

export type ReserveBatch = {
  readonly commands: readonly ReserveCommand[];
  /** The locked rows, by `rowKey` of project and voucher. */
  readonly usages: ReadonlyMap<string, VoucherUsage>;
  readonly lockedByOthers: ReadonlySet<string>;
  readonly locks: LoadedLocks;
};

export type ReserveDecision =
  | { readonly kind: "reserved" }
  | {
      readonly kind: "rejected";
      readonly key: "quantity_exceeded" | "gift_amount_exceeded";
      readonly position: number;
    }
  | { readonly kind: "stale" }
  | { readonly kind: "locked"; readonly position: number };

/**
 * Decides sessions over the locked vouchers, in the order of arrival: each gets all the locks that it requests,
 * which replace its earlier ones, or keeps the earlier ones (docs/sessions.md#locks).
 */
export function decideReservations(batch: ReserveBatch): readonly ReserveDecision[] {
  const locks = createSessionLocks(batch.locks);
  return batch.commands.map((command) => {
    const { projectId, sessionKey } = command;
    const decision = decide(command, batch, locks);
    if (decision.kind !== "reserved") return decision;
    locks.release(projectId, sessionKey);
    for (const lock of sessionLocksOf(command)) locks.hold(lock);
    return decision;
  });
}

export const sessionLocksOf = ({
  projectId,
  sessionKey,
  reservations,
}: ReserveCommand): readonly SessionLock[] =>
  reservations.map(({ voucherId, credits }) => ({ projectId, sessionKey, voucherId, credits }));

/** Whether locks on this voucher restrict other sessions. */
export const isLimited = (usage: VoucherUsage): boolean =>
  usage.quantity !== null || usage.balance !== null;

function decide(
  { projectId, sessionKey, reservations }: ReserveCommand,
  { usages, lockedByOthers }: ReserveBatch,
  locks: ReturnType<typeof createSessionLocks>,
): ReserveDecision {
  for (const [position, { voucherId, definitionVersion, credits }] of reservations.entries()) {
    const key = rowKey(projectId, voucherId);
    if (lockedByOthers.has(key)) return { kind: "locked", position };
    const usage = usages.get(key);
    if (usage === undefined || usage.deleted || usage.definitionVersion !== definitionVersion) {
      return { kind: "stale" };
    }
    const others = locks.ofOthers(projectId, voucherId, sessionKey);
    if (usage.quantity !== null && usage.redeemedQuantity + others.quantity >= usage.quantity) {
      return { kind: "rejected", key: "quantity_exceeded", position };
    }
    if (credits === 0n) continue;
    if (credits > (usage.balance ?? 0n) - others.credits) {
      return { kind: "rejected", key: "gift_amount_exceeded", position };
    }
  }
  return { kind: "reserved" };
}
