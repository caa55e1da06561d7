import { createSessionLocks, type KnownLocks, type SessionLock } from "./session-locks.ts";
import { rowKey, type VoucherUsage } from "./usage.ts";

export type ReserveCommand = {
  readonly projectId: string;
  readonly sessionKey: string;
  /** All that the session holds from now on. */
  readonly reservations: readonly Reservation[];
};

export type Reservation = {
  readonly voucherId: string;
  readonly definitionVersion: bigint;
  /** Of a gift voucher; points of cards are locked where they are kept. */
  readonly credits: bigint;
};

export type ReserveBatch = {
  readonly commands: readonly ReserveCommand[];
  /** As locked, by `rowKey` of project and voucher. */
  readonly usages: ReadonlyMap<string, VoucherUsage>;
  readonly held: ReadonlySet<string>;
  readonly locks: KnownLocks;
};

export type ReserveDecision =
  | { readonly kind: "reserved" }
  | {
      readonly kind: "refused";
      readonly key: "quantity_exceeded" | "gift_amount_exceeded";
      readonly position: number;
    }
  | { readonly kind: "stale" }
  | { readonly kind: "held"; readonly position: number };

/**
 * Decides sessions over the locked vouchers, in the order of arrival: each holds all that it asks for,
 * instead of what it held before, or stays as it was (spec/validation-and-redemption.md §7).
 */
export function decideReservations(batch: ReserveBatch): readonly ReserveDecision[] {
  const locks = createSessionLocks(batch.locks);
  return batch.commands.map((command) => {
    const { projectId, sessionKey } = command;
    const decision = decide(command, batch, locks);
    if (decision.kind !== "reserved") return decision;
    locks.release(projectId, sessionKey);
    for (const lock of locksOf(command)) locks.hold(lock);
    return decision;
  });
}

export const locksOf = ({
  projectId,
  sessionKey,
  reservations,
}: ReserveCommand): readonly SessionLock[] =>
  reservations.map(({ voucherId, credits }) => ({ projectId, sessionKey, voucherId, credits }));

/** Whether what is held of this voucher decides about others. */
export const isLimited = (usage: VoucherUsage): boolean =>
  usage.quantity !== null || usage.balance !== null;

function decide(
  { projectId, sessionKey, reservations }: ReserveCommand,
  { usages, held }: ReserveBatch,
  locks: ReturnType<typeof createSessionLocks>,
): ReserveDecision {
  for (const [position, { voucherId, definitionVersion, credits }] of reservations.entries()) {
    const key = rowKey(projectId, voucherId);
    if (held.has(key)) return { kind: "held", position };
    const usage = usages.get(key);
    if (usage === undefined || usage.deleted || usage.definitionVersion !== definitionVersion) {
      return { kind: "stale" };
    }
    const others = locks.ofOthers(projectId, voucherId, sessionKey);
    if (usage.quantity !== null && usage.redeemedQuantity + others.quantity >= usage.quantity) {
      return { kind: "refused", key: "quantity_exceeded", position };
    }
    if (credits === 0n) continue;
    if (credits > (usage.balance ?? 0n) - others.credits) {
      return { kind: "refused", key: "gift_amount_exceeded", position };
    }
  }
  return { kind: "reserved" };
}
