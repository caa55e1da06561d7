import {
  type CountIncrement,
  createTally,
  type Guard,
  type CountValue,
  type ProductUnits,
} from "./counts.ts";
import { decideWithReplays, type KeyedCommand, type ReplayDecision } from "./idempotency.ts";
import { createSessionLocks, type LoadedLocks, type LockedAmounts } from "./session-locks.ts";
import { rowKey, usageAfterRedemption, type VoucherUsage } from "./usage.ts";

export { rowKey, type VoucherUsage } from "./usage.ts";

/** One redeemable of a command: a voucher, or a promotion tier, which has no balance. */
export type Part = {
  readonly voucherId: string | null;
  readonly tierId: string | null;
  /** For a voucher: the version of the definition that the decision is based on. */
  readonly definitionVersion: bigint;
  /** Credits to take from a gift voucher, in minor units. */
  readonly credits: bigint;
  /** For a loyalty card: the points hold that the redemption uses. */
  readonly holdId: string | null;
  readonly campaignId: string | null;
  readonly orderAmount: bigint;
  readonly discountedAmount: bigint;
  readonly units: readonly ProductUnits[];
  readonly guards: readonly Guard[];
};

/** A request to redeem all parts or none, or to record that the first was rejected. */
export type CommitCommand = KeyedCommand & {
  /** The project's time, in epoch milliseconds. */
  readonly at: number;
  readonly customerId: string | null;
  readonly channelId: string;
  /** The locks of this session do not count against the command, and the redemption releases them. */
  readonly sessionKey: string | null;
  readonly parts: readonly Part[];
  readonly isRejection: boolean;
  /** When some parts conflict, the caller decides again without them. */
  readonly isPartial: boolean;
};

export type CommitBatch<Command extends CommitCommand = CommitCommand> = {
  /** In the order of arrival. */
  readonly commands: readonly Command[];
  /** As locked, by `rowKey` of project and voucher. */
  readonly usages: ReadonlyMap<string, VoucherUsage>;
  /** Vouchers, tiers and campaigns that were not locked because other transactions hold their locks. */
  readonly lockedByOthers: ReadonlySet<string>;
  /** Request hashes of stored responses, by `rowKey` of project and key. */
  readonly storedHashes: ReadonlyMap<string, Uint8Array>;
  /** All counts that the guards refer to, read under the locks. */
  readonly counts: readonly CountValue[];
  readonly locks: LoadedLocks;
  /** Points holds that were used or released, by `rowKey` of project and hold. */
  readonly claimedHolds: ReadonlySet<string>;
};

export type CommitDecision = NewCommitDecision | ReplayDecision;

export type NewCommitDecision =
  /** Redeemed: the usage of each part's voucher right after, or null for a tier. */
  | { readonly kind: "committed"; readonly usages: readonly (VoucherUsage | null)[] }
  /** The voucher of this part is exhausted. */
  | {
      readonly kind: "rejected";
      readonly key: ShortageKey;
      readonly part: number;
      /** Credits that a gift voucher still has. */
      readonly remaining?: bigint;
    }
  /** A guard of this part fails. */
  | { readonly kind: "guard_failed"; readonly part: number; readonly guard: number }
  /** The command is a rejection to record. */
  | { readonly kind: "record_rejection" }
  /** The voucher was deleted since it was loaded. */
  | { readonly kind: "deleted"; readonly part: number }
  /** The decision is outdated and must be repeated. */
  | { readonly kind: "stale"; readonly conflicts: readonly ConflictingPart[] }
  /** Another transaction locks a row of this part; the caller may try again. */
  | { readonly kind: "locked"; readonly part: number };

/** Why a part of a partial command can no longer be redeemed. */
export type ConflictingPart = Extract<
  NewCommitDecision,
  { readonly kind: "rejected" | "guard_failed" }
>;

export type ShortageKey = "quantity_exceeded" | "gift_amount_exceeded";

type State = {
  readonly usages: Map<string, VoucherUsage>;
  readonly lockedByOthers: ReadonlySet<string>;
  readonly claimedHolds: ReadonlySet<string>;
  readonly tally: ReturnType<typeof createTally>;
  readonly locks: ReturnType<typeof createSessionLocks>;
};

/**
 * Decides a batch of commands over the locked rows, in the order of arrival, each on the state that the
 * previous ones left (docs/redemption-and-rollback.md#concurrency). Storing a decision adds only ids, dates
 * and texts.
 */
export function decideCommits(batch: CommitBatch): readonly CommitDecision[] {
  const state: State = {
    usages: new Map(batch.usages),
    lockedByOthers: batch.lockedByOthers,
    claimedHolds: batch.claimedHolds,
    tally: createTally(batch.counts),
    locks: createSessionLocks(batch.locks),
  };
  return decideWithReplays<CommitCommand, NewCommitDecision>(batch.commands, batch.storedHashes, {
    decide: (command) => decideCommand(command, state),
    isFinal,
  });
}

/** A command that the caller tries again has no final outcome, so its key stays free. */
export const isFinal = ({ kind }: CommitDecision): boolean => kind !== "stale" && kind !== "locked";

/** The rows that a part changes, and those that its guards count in. */
export function rowsNeededBy({ voucherId, tierId, campaignId, guards }: Part): PartRows {
  const vouchers = voucherId === null ? [] : [voucherId];
  const scopes = [tierId, campaignId].filter((id) => id !== null);
  for (const { count } of guards) {
    const rows = count.scope.kind === "voucher" ? vouchers : scopes;
    if (!rows.includes(count.scope.id)) rows.push(count.scope.id);
  }
  return { vouchers, scopes };
}

/** Scopes are campaigns and promotion tiers. */
export type PartRows = { readonly vouchers: readonly string[]; readonly scopes: readonly string[] };

function isLockedByOthers(part: Part, projectId: string, locked: ReadonlySet<string>): boolean {
  const { vouchers, scopes } = rowsNeededBy(part);
  return [...vouchers, ...scopes].some((id) => locked.has(rowKey(projectId, id)));
}

function decideCommand(command: CommitCommand, state: State): NewCommitDecision {
  const { projectId, parts, sessionKey } = command;
  if (command.isRejection) return { kind: "record_rejection" };
  if (state.lockedByOthers.size > 0) {
    const part = parts.findIndex((one) => isLockedByOthers(one, projectId, state.lockedByOthers));
    if (part !== -1) return { kind: "locked", part };
  }
  if (parts.some(({ holdId }) => isClaimed(projectId, holdId, state))) return STALE;
  const outdated = findStale(command, state.usages);
  if (outdated !== undefined) return command.isPartial ? STALE : outdated;
  const decision = redeemParts(command, state);
  if (decision.kind !== "committed") return decision;
  for (const usage of decision.usages) {
    if (usage !== null) state.usages.set(rowKey(projectId, usage.voucherId), usage);
  }
  if (sessionKey !== null) state.locks.release(projectId, sessionKey);
  return decision;
}

const isClaimed = (projectId: string, holdId: string | null, { claimedHolds }: State): boolean =>
  holdId !== null && claimedHolds.has(rowKey(projectId, holdId));

/**
 * Redeems each part on the state that the previous ones left, also when they share a voucher or campaign. A
 * partial command gets all its conflicts together, so that the caller decides again only a few times.
 */
function redeemParts(command: CommitCommand, state: State): NewCommitDecision {
  const after: (VoucherUsage | null)[] = [];
  const added: CountIncrement[] = [];
  const conflicts: ConflictingPart[] = [];
  const reject = (decision: NewCommitDecision): NewCommitDecision => {
    for (const addition of added) state.tally.add(addition, -1n);
    return decision;
  };
  for (const [position, part] of command.parts.entries()) {
    const redeemed = redeemPart(command, position, after, state);
    if (redeemed.kind === "redeemed") {
      after.push(redeemed.usage);
      const addition = countIncrementOf(command, part);
      state.tally.add(addition, 1n);
      added.push(addition);
    } else if (
      command.isPartial &&
      (redeemed.kind === "rejected" || redeemed.kind === "guard_failed")
    ) {
      conflicts.push(redeemed);
    } else {
      return reject(redeemed);
    }
  }
  return conflicts.length > 0
    ? reject({ kind: "stale", conflicts })
    : { kind: "committed", usages: after };
}

type RedeemedPart = { readonly kind: "redeemed"; readonly usage: VoucherUsage | null };

function redeemPart(
  { projectId, sessionKey, parts }: CommitCommand,
  part: number,
  before: readonly (VoucherUsage | null)[],
  { usages, tally, locks }: State,
): RedeemedPart | NewCommitDecision {
  const { voucherId = null, credits = 0n, guards = [] } = parts[part] ?? {};
  let after: VoucherUsage | null = null;
  if (voucherId !== null) {
    const usage =
      before.findLast((earlier) => earlier?.voucherId === voucherId) ??
      usages.get(rowKey(projectId, voucherId));
    if (usage === undefined) return { kind: "deleted", part };
    const others = usage.reserved
      ? locks.ofOthers(projectId, voucherId, sessionKey)
      : NOTHING_LOCKED;
    const shortage = findShortage(usage, credits, others);
    if (shortage !== undefined) return { kind: "rejected", part, ...shortage };
    // Clears the mark when no other session holds a lock, in a write that happens anyway.
    after = usageAfterRedemption(usage, credits, others.quantity > 0n);
  }
  const guard = guards.findIndex((each) => !tally.holds(each));
  if (guard === -1) return { kind: "redeemed", usage: after };
  return guards[guard]?.rejects === true ? { kind: "guard_failed", part, guard } : STALE;
}

const STALE: NewCommitDecision = { kind: "stale", conflicts: [] };

const NOTHING_LOCKED: LockedAmounts = { quantity: 0n, credits: 0n };

export const countIncrementOf = (command: CommitCommand, part: Part): CountIncrement => ({
  projectId: command.projectId,
  voucherId: part.voucherId,
  tierId: part.tierId,
  campaignId: part.campaignId,
  customerId: command.customerId,
  channelId: command.channelId,
  at: command.at,
  orderAmount: part.orderAmount,
  discountedAmount: part.discountedAmount,
  credits: part.credits,
  units: part.units,
});

function findStale(
  { projectId, parts }: CommitCommand,
  usages: ReadonlyMap<string, VoucherUsage>,
): NewCommitDecision | undefined {
  let stale = false;
  for (const [part, { voucherId, definitionVersion }] of parts.entries()) {
    if (voucherId === null) continue;
    const usage = usages.get(rowKey(projectId, voucherId));
    if (usage === undefined || usage.deleted) return { kind: "deleted", part };
    stale ||= usage.definitionVersion !== definitionVersion;
  }
  return stale ? STALE : undefined;
}

type Shortage = { readonly key: ShortageKey; readonly remaining?: bigint };

function findShortage(
  usage: VoucherUsage,
  credits: bigint,
  others: LockedAmounts,
): Shortage | undefined {
  if (usage.quantity !== null && usage.redeemedQuantity + others.quantity >= usage.quantity) {
    return { key: "quantity_exceeded" };
  }
  // Zero credits are always available, also when an edit left less than sessions hold.
  if (credits === 0n) return undefined;
  const free = (usage.balance ?? 0n) - others.credits;
  const remaining = free > 0n ? free : 0n;
  return credits < 0n || credits > free ? { key: "gift_amount_exceeded", remaining } : undefined;
}
