import { projectTime } from "@scrip/clock";
import { enqueue, type OutboxEvent } from "@scrip/events";
import type { Queryable } from "@scrip/postgres";
import { instantAt } from "@scrip/rules";

import type { Deps } from "../deps.ts";
import { keyOf } from "../domain/key.ts";
import { epochDayOf, type LocalDate, localDateAt } from "../domain/local-date.ts";
import {
  advanceTo,
  followEntry,
  recalculateExpiry,
  requalify,
  type TierChange,
  type TierProgress,
  type TierState,
} from "../domain/tiers/follow-ledger.ts";
import { heldOfBalance } from "../domain/tiers/held-points.ts";
import { loyaltyTierChangedEvent } from "../events/loyalty-tier-changed.ts";
import { internally, type OriginOf } from "../points/card-origins.ts";
import { type CardKey, findMembers } from "../store/loyalty-members.ts";
import {
  findEntriesAfter,
  type FollowedEntry,
  lockMemberTiers,
  saveMemberTiers,
} from "../store/member-tiers.ts";
import { findAutomaticHolds } from "../store/points-holds.ts";
import { loadTiers, readTiers } from "./holder-tiers.ts";
import { openStates } from "./open-states.ts";
import { type CardOnDate, inPeriodOf, loadPeriodPoints } from "./period-points.ts";
import { type CalendarProgram, loadTierPrograms, type ProgramOf } from "./tier-programs.ts";

export type FollowDeps = Pick<Deps, "newId" | "tiers">;

/** What else is done once the ledgers are followed. */
export type FollowOptions = {
  /** Does what falls due up to the midnight with which this date begins. */
  readonly until?: LocalDate;
  /** The tiers of the program changed: evaluates all cards again, or also calculates the ends of their tiers anew. */
  readonly program?: "requalify" | "recalculate";
  /** What moved the points of the cards, or changed the tiers; default: a job follows them by itself. */
  readonly originOf?: OriginOf | undefined;
};

/**
 * Brings the tiers of cards up to their ledgers, in the caller's transaction, and emits what changes: an entry counts once,
 * in the order of the ledger, so that the result does not depend on when this runs. Costs nothing for projects without
 * tiers. The caller calls `deps.onEvents` after its commit.
 */
export async function followCards(
  tx: Queryable,
  deps: FollowDeps,
  cards: readonly CardKey[],
  options: FollowOptions = {},
): Promise<void> {
  // Changed tiers may not have arrived in this process's cache yet.
  const tiers = await (options.program === undefined
    ? loadTiers(deps, cards)
    : readTiers(tx, cards));
  const inTiers = cards.filter(({ projectId }) => (tiers.get(projectId)?.size ?? 0) > 0);
  const members = (await findMembers(tx, inTiers)).filter(
    ({ projectId, campaignId }) => tiers.get(projectId)?.has(campaignId ?? "") === true,
  );
  if (members.length === 0) return;
  const programOf = await loadTierPrograms(tx, members, tiers);
  const opened = await openStates(tx, members, programOf);
  const before = await lockMemberTiers(tx, members);
  const followed = new Map([...before].map(([key, state]) => [key, startOf(state)]));
  for (const key of opened) {
    const card = followed.get(key);
    if (card !== undefined) qualifyAtStart(card, programOf(card.state));
  }
  await followLedgers(tx, followed, programOf);
  for (const card of followed.values()) advance(card, programOf(card.state), options);
  if (options.program !== undefined) {
    await followProgram(tx, [...followed.values()], { change: options.program, programOf });
  }
  await save(tx, deps, { before, followed, originOf: options.originOf ?? internally });
}

/** A card as far as it is followed; its changes have the time that events show. */
type Followed = { state: TierState; readonly changes: (TierChange & { readonly at: number })[] };

const startOf = (state: TierState): Followed => ({ state, changes: [] });

/** Takes a step; changes without a time happened at midnight of their date. */
function take(
  card: Followed,
  { state, changes }: TierProgress,
  timeOf: (change: TierChange) => number,
) {
  const dated = changes.map((change) => ({ ...change, at: timeOf(change) }));
  card.state = { ...state, updatedAt: dated.at(-1)?.at ?? state.updatedAt };
  card.changes.push(...dated);
}

/** Entries per statement. */
const LIMIT = 10_000;

async function followLedgers(
  tx: Queryable,
  followed: ReadonlyMap<string, Followed>,
  programOf: ProgramOf,
): Promise<void> {
  for (;;) {
    const states = [...followed.values()].map(({ state }) => state);
    const entries = await findEntriesAfter(tx, states, LIMIT);
    // After the entries: a hold that is claimed concurrently still counts for them.
    const heldPoints = await loadHeldPoints(tx, states, programOf);
    for (const card of followed.values()) {
      const { ledgerVersion: version, balance } = card.state;
      const held = heldPoints(card.state, { version, balance });
      if (held !== card.state.heldPoints) card.state = { ...card.state, heldPoints: held };
    }
    const pointsBefore = await loadPointsBefore(tx, { entries, followed, programOf });
    for (const entry of entries) {
      const card = followed.get(keyOf(entry.projectId, entry.cardId));
      if (card === undefined) continue;
      const program = programOf(card.state);
      const at = timeAfter(card.state, entry.at, program);
      const date = localDateAt(program.calendar.timeZone, at);
      const { version, balanceAfter: balance } = entry;
      const seen = {
        ...entry,
        date,
        heldPoints: heldPoints(entry, { version, balance }),
        pointsBefore: pointsBefore(entry),
      };
      const progress = followEntry(card.state, seen, program);
      take(card, progress, (change) => (change.date === date ? at : midnight(change, program)));
    }
    if (entries.length < LIMIT) return;
  }
}

/** Points of the period of each card's first entry before it; those of later entries are in the state by then. */
async function loadPointsBefore(
  tx: Queryable,
  {
    entries,
    followed,
    programOf,
  }: {
    readonly entries: readonly FollowedEntry[];
    readonly followed: ReadonlyMap<string, Followed>;
    readonly programOf: ProgramOf;
  },
): Promise<(entry: FollowedEntry) => bigint> {
  const cards = entries.flatMap(({ projectId, cardId, version, at }): CardOnDate[] => {
    const state = followed.get(keyOf(projectId, cardId))?.state;
    if (state === undefined || version !== state.ledgerVersion + 1n) return [];
    const program = programOf(state);
    const date = localDateAt(program.calendar.timeZone, timeAfter(state, at, program));
    return [{ state, date }];
  });
  const sums = await loadPeriodPoints(tx, cards, programOf);
  const first = new Map(
    cards.map(({ state }) => [keyOf(state.projectId, state.cardId), state.ledgerVersion + 1n]),
  );
  return ({ projectId, cardId, version }) => {
    const key = keyOf(projectId, cardId);
    return first.get(key) === version ? (sums.get(key) ?? 0n) : 0n;
  };
}

/**
 * The points of a card's balance after an entry that automatic redemptions hold, until the entry that deducts them: rewards
 * are redeemed before tiers are evaluated. Costs no statement for programs whose tiers depend on the points of a period.
 */
async function loadHeldPoints(
  tx: Queryable,
  states: readonly TierState[],
  programOf: ProgramOf,
): Promise<(card: CardKey, at: { readonly version: bigint; readonly balance: bigint }) => bigint> {
  const holds = await findAutomaticHolds(
    tx,
    states
      .filter((state) => programOf(state).policy.qualification === "BALANCE")
      .map(({ projectId, cardId, ledgerVersion: version }) => ({ projectId, cardId, version })),
  );
  const ofCards = Map.groupBy(holds, ({ projectId, cardId }) => keyOf(projectId, cardId));
  return ({ projectId, cardId }, { version, balance }) => {
    const ofCard = ofCards.get(keyOf(projectId, cardId)) ?? [];
    const open = ofCard.filter(
      ({ claimedVersion }) => claimedVersion === null || version < claimedVersion,
    );
    return heldOfBalance(balance, open);
  };
}

const midnight = ({ date }: TierChange, { calendar }: CalendarProgram): number =>
  instantAt(calendar.timeZone, epochDayOf(date), 0);

/**
 * The time of an entry, or that of the last change of the tier if that is later: an accrual has the time of its order, and
 * may follow entries of later requests. The clock of a sandbox may have been set back since.
 */
const timeAfter = (
  { createdAt, updatedAt }: TierState,
  at: number,
  { calendar }: CalendarProgram,
): number => Math.max(at, Math.min(updatedAt ?? createdAt, projectTime(calendar)));

/** A card can start with the points of a tier. */
function qualifyAtStart(card: Followed, program: CalendarProgram): void {
  const { createdAt } = card.state;
  const date = localDateAt(program.calendar.timeZone, createdAt);
  take(card, requalify(card.state, date, program), () => createdAt);
}

/** What falls due after the ledger. */
function advance(card: Followed, program: CalendarProgram, { until }: FollowOptions): void {
  if (until === undefined) return;
  take(card, advanceTo(card.state, until, program), (each) => midnight(each, program));
}

/** Evaluates the cards by changed tiers or qualifications, with the points of the period that they need now. */
async function followProgram(
  tx: Queryable,
  cards: readonly Followed[],
  {
    change,
    programOf,
  }: { readonly change: FollowOptions["program"]; readonly programOf: ProgramOf },
): Promise<void> {
  const times = cards.map(({ state }) => projectTime(programOf(state).calendar));
  const dates = cards.map(({ state }, at) =>
    localDateAt(programOf(state).calendar.timeZone, times[at] ?? 0),
  );
  const states = await inPeriodOf(
    tx,
    cards.map(({ state }, at) => ({ state, date: dates[at] ?? "" })),
    programOf,
  );
  for (const [at, card] of cards.entries()) {
    const [now = 0, today = ""] = [times[at], dates[at]];
    const program = programOf(card.state);
    card.state = states[at] ?? card.state;
    take(card, requalify(card.state, today, program), () => now);
    if (change === "recalculate") {
      take(card, recalculateExpiry(card.state, today, program), () => now);
    }
  }
}

async function save(
  tx: Queryable,
  { newId }: FollowDeps,
  {
    before,
    followed,
    originOf,
  }: {
    readonly before: ReadonlyMap<string, TierState>;
    readonly followed: ReadonlyMap<string, Followed>;
    readonly originOf: OriginOf;
  },
): Promise<void> {
  const changed = [...followed].flatMap(([key, card]) =>
    isStored(before.get(key), card.state) ? [] : [card],
  );
  await saveMemberTiers(
    tx,
    changed.map(({ state }) => state),
  );
  const events = changed.flatMap(({ state, changes }): OutboxEvent[] =>
    changes.map((change) => ({
      ...loyaltyTierChangedEvent(newId("event"), state, change),
      origin: originOf(state),
    })),
  );
  await enqueue(tx, events, undefined);
}

/** Whether a state differs from the stored one only by what is not stored. */
const isStored = (before: TierState | undefined, after: TierState): boolean =>
  before !== undefined &&
  Object.entries(after).every(
    ([name, value]) => name === "heldPoints" || before[name as keyof TierState] === value,
  );
