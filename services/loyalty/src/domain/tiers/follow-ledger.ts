import type { TierPolicy } from "@scrip/rules";

import { addDays, type LocalDate } from "../local-date.ts";
import { startOfNextTierPeriod, startOfTierPeriod, tierExpiry } from "./tier-dates.ts";
import { qualifiedTier, type Tier } from "./tier.ts";

/** The tier of a card: what its ledger results in up to a version. */
export type TierState = {
  readonly projectId: string;
  readonly cardId: string;
  readonly campaignId: string;
  readonly customerId: string;
  readonly tierId: string | null;
  readonly startDate: LocalDate | null;
  /** The last day in the tier; null: no date. */
  readonly expirationDate: LocalDate | null;
  /** A tier that starts with the next period. */
  readonly nextTierId: string | null;
  readonly nextStart: LocalDate | null;
  /** The current qualification period, and the points that count in it. */
  readonly periodStart: LocalDate | null;
  readonly periodPoints: bigint;
  readonly balance: bigint;
  /** Points of the balance that automatic redemptions hold: they do not count. Not stored. */
  readonly heldPoints: bigint;
  /** The last entry of the ledger that counts. */
  readonly ledgerVersion: bigint;
  readonly createdAt: number;
  readonly updatedAt: number | null;
};

/** An entry of the ledger, as tiers see it. */
export type TierEntry = {
  readonly version: bigint;
  readonly type: string;
  readonly points: bigint;
  readonly balanceAfter: bigint;
  /** Points of the balance after this entry that automatic redemptions hold. */
  readonly heldPoints: bigint;
  /** Points of its period before this entry, for a state that has those of another period; default: none. */
  readonly pointsBefore?: bigint;
  /** Whether the night of its date wrote the entry, before it ended tiers. */
  readonly nightly: boolean;
  readonly date: LocalDate;
};

export type TierChangeType =
  | "joined"
  | "left"
  | "upgraded"
  | "downgraded"
  | "prolonged"
  | "expiration.changed";

/** A change of a card's tier, on a date of the project. */
export type TierChange = {
  readonly type: TierChangeType;
  /** The tier after the change; null: none. */
  readonly tier: Tier | null;
  readonly previous: Tier | null;
  readonly expirationDate: LocalDate | null;
  readonly date: LocalDate;
};

/** The tiers of a program, deleted ones included, and how members qualify. */
export type TierProgram = { readonly tiers: readonly Tier[]; readonly policy: TierPolicy };

export type TierProgress = { readonly state: TierState; readonly changes: readonly TierChange[] };

/** Points that count in a period: received for something, not returned or transferred. */
const COUNTED = new Set(["POINTS_ACCRUAL", "PENDING_POINTS_ACTIVATION", "POINTS_ADDITION"]);

const MAX_STEPS = 10_000;

/**
 * Takes an entry of the ledger into account, after everything that fell due by its date. Points that become active in a night can
 * keep a tier that ends in it, but not start one that waits for its period.
 */
export function followEntry(
  state: TierState,
  entry: TierEntry,
  program: TierProgram,
): TierProgress {
  const precedesEnds = entry.nightly && program.policy.start === "IMMEDIATE";
  const before = advanceTo(state, precedesEnds ? addDays(entry.date, -1) : entry.date, program);
  const counted = count(before.state, entry, program.policy);
  const after = requalify(counted, entry.date, program);
  return { state: after.state, changes: [...before.changes, ...after.changes] };
}

/** Does what falls due up to the midnight with which a date begins: tiers that end and scheduled tiers that start. */
export function advanceTo(state: TierState, date: LocalDate, program: TierProgram): TierProgress {
  let current = state;
  const changes: TierChange[] = [];
  for (let steps = 0; steps < MAX_STEPS; steps++) {
    const due = dueDate(current);
    if (due === null || due > date) break;
    const { state: after, changes: more } = onDueDate(current, due, program);
    current = after;
    changes.push(...more);
  }
  return { state: current, changes };
}

/** The next date on which a state changes by itself. */
export function dueDate({ nextStart, expirationDate }: TierState): LocalDate | null {
  const end = expirationDate === null ? null : addDays(expirationDate, 1);
  if (nextStart === null || end === null) return nextStart ?? end;
  return nextStart < end ? nextStart : end;
}

/** What the current value qualifies for: after each change of points, and after the tiers of the program changed. */
export function requalify(state: TierState, date: LocalDate, program: TierProgram): TierProgress {
  const { tiers, policy } = program;
  const current = tierOf(tiers, state.tierId);
  const target = qualifiedTier(tiers, valueOf(state, date, policy));
  if (current?.deleted === true) return move(state, target, { date, program });
  if (policy.expiration.type === "BALANCE_DROP") return move(state, target, { date, program });
  if (target === null) return unchanged(state);
  if (policy.start === "NEXT_PERIOD") return unchanged(schedule(state, target, { date, program }));
  if (current === null || target.from > current.from) return move(state, target, { date, program });
  const again = policy.qualification === "POINTS_IN_PERIOD" && target.id === current.id;
  return again ? prolong(state, date, program) : unchanged(state);
}

/** Applies changed rules to a tier that a card has: its end is counted anew from its start. */
export function recalculateExpiry(
  state: TierState,
  date: LocalDate,
  { tiers, policy }: TierProgram,
): TierProgress {
  const tier = tierOf(tiers, state.tierId);
  if (tier === null || state.startDate === null) return unchanged(state);
  const expirationDate = tierExpiry(policy, state.startDate);
  if (expirationDate === state.expirationDate) return unchanged(state);
  const change = {
    type: "expiration.changed",
    tier,
    previous: tier,
    expirationDate,
    date,
  } as const;
  return { state: { ...state, expirationDate }, changes: [change] };
}

const unchanged = (state: TierState): TierProgress => ({ state, changes: [] });

export const tierOf = (tiers: readonly Tier[], id: string | null): Tier | null =>
  tiers.find((tier) => tier.id === id) ?? null;

function count(state: TierState, entry: TierEntry, policy: TierPolicy): TierState {
  const periodStart = startOfTierPeriod(policy.period, entry.date);
  const before =
    state.periodStart === periodStart ? state.periodPoints : (entry.pointsBefore ?? 0n);
  return {
    ...state,
    periodStart,
    periodPoints: COUNTED.has(entry.type) ? before + entry.points : before,
    balance: entry.balanceAfter,
    heldPoints: entry.heldPoints,
    ledgerVersion: entry.version,
  };
}

function valueOf(state: TierState, date: LocalDate, policy: TierPolicy): bigint {
  if (policy.qualification === "BALANCE") return state.balance - state.heldPoints;
  return state.periodStart === startOfTierPeriod(policy.period, date) ? state.periodPoints : 0n;
}

function onDueDate(state: TierState, date: LocalDate, program: TierProgram): TierProgress {
  const { tiers, policy } = program;
  const current = tierOf(tiers, state.tierId);
  const hasEnded = state.expirationDate !== null && state.expirationDate < date;
  if (state.nextStart === date) {
    const next = tierOf(tiers, state.nextTierId);
    const scheduled = { ...state, nextTierId: null, nextStart: null };
    if (next !== null && !next.deleted) {
      if (next.id === current?.id) return prolong(scheduled, date, program);
      if (hasEnded || current === null || next.from > current.from) {
        return move(scheduled, next, { date, program });
      }
    }
    if (!hasEnded) return unchanged(scheduled);
    return onEnd(scheduled, date, program);
  }
  return hasEnded ? onEnd(state, date, program) : unchanged({ ...state, nextStart: null });

  function onEnd(ended: TierState, end: LocalDate, of: TierProgram): TierProgress {
    const target = qualifiedTier(tiers, valueOf(ended, end, policy));
    if (target !== null && target.id === current?.id) return prolong(ended, end, of);
    return move(ended, target, { date: end, program: of });
  }
}

/** The highest tier that is reached in a period starts with the next one. */
function schedule(
  state: TierState,
  target: Tier,
  { date, program: { tiers, policy } }: { readonly date: LocalDate; readonly program: TierProgram },
): TierState {
  const scheduled = tierOf(tiers, state.nextTierId);
  if (scheduled !== null && !scheduled.deleted && scheduled.from >= target.from) return state;
  return {
    ...state,
    nextTierId: target.id,
    nextStart: startOfNextTierPeriod(policy.period, date),
  };
}

/** The tier starts anew on this date; nothing if it would not end later. */
function prolong(state: TierState, date: LocalDate, { tiers, policy }: TierProgram): TierProgress {
  const tier = tierOf(tiers, state.tierId);
  const expirationDate = tierExpiry(policy, date);
  const hasDate = state.expirationDate !== null && expirationDate !== null;
  if (hasDate && expirationDate <= state.expirationDate) return unchanged(state);
  const change = { type: "prolonged", tier, previous: tier, expirationDate, date } as const;
  return { state: { ...state, expirationDate }, changes: [change] };
}

function move(
  state: TierState,
  target: Tier | null,
  { date, program: { tiers, policy } }: { readonly date: LocalDate; readonly program: TierProgram },
): TierProgress {
  const previous = tierOf(tiers, state.tierId);
  if (target?.id === previous?.id) return unchanged(state);
  const expirationDate = target === null ? null : tierExpiry(policy, date);
  const after: TierState = {
    ...state,
    tierId: target?.id ?? null,
    startDate: target === null ? null : date,
    expirationDate,
  };
  const change = {
    type: changeType(previous, target),
    tier: target,
    previous,
    expirationDate,
    date,
  };
  return { state: after, changes: [change] };
}

function changeType(previous: Tier | null, target: Tier | null): TierChangeType {
  if (target === null) return "left";
  if (previous === null) return "joined";
  return target.from > previous.from ? "upgraded" : "downgraded";
}
