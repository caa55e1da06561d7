import { projectTime } from "@scrip/clock";
import type { Queryable } from "@scrip/postgres";
import { instantAt } from "@scrip/rules";

import { keyOf } from "../domain/key.ts";
import { epochDayOf, localDateAt } from "../domain/local-date.ts";
import type { LoyaltyMember } from "../domain/loyalty-program.ts";
import type { TierState } from "../domain/tiers/follow-ledger.ts";
import { startOfTierPeriod } from "../domain/tiers/tier-dates.ts";
import { findCards } from "../store/cards.ts";
import {
  findFirstEntries,
  findMemberTiers,
  openMemberTiers,
  sumPeriodPoints,
} from "../store/member-tiers.ts";
import type { ProgramOf } from "./tier-programs.ts";

/**
 * Starts the states of cards that have none, and returns their keys. A card starts with the points that it had when it was
 * published and its program had tiers, so that its tiers do not depend on when this runs.
 */
export async function openStates(
  tx: Queryable,
  members: readonly LoyaltyMember[],
  programOf: ProgramOf,
): Promise<ReadonlySet<string>> {
  const known = await findMemberTiers(tx, members);
  const missing = members.filter(({ projectId, cardId }) => !known.has(keyOf(projectId, cardId)));
  if (missing.length === 0) return new Set();
  const starts = missing.map((member) => ({ ...member, ...startOf(member, programOf) }));
  // In this order: an entry that is written in between is found, and follows.
  const cards = await findCards(tx, missing);
  const entries = await findFirstEntries(tx, starts);
  const started = starts.map((member) => {
    const { projectId, cardId, campaignId, customerId, initialPoints, at } = member;
    const first = entries.get(keyOf(projectId, cardId));
    const card = cards.get(keyOf(projectId, cardId));
    const program = { projectId, campaignId: campaignId ?? "" };
    const { policy, calendar } = programOf(program);
    const periodStart = startOfTierPeriod(policy.period, localDateAt(calendar.timeZone, at));
    const state: TierState = {
      projectId,
      cardId,
      campaignId: program.campaignId,
      customerId,
      tierId: null,
      startDate: null,
      expirationDate: null,
      nextTierId: null,
      nextStart: null,
      periodStart,
      periodPoints: 0n,
      balance: first?.balanceBefore ?? card?.balance ?? initialPoints,
      heldPoints: 0n,
      ledgerVersion: first === undefined ? (card?.ledgerVersion ?? 0n) : first.version - 1n,
      createdAt: at,
      updatedAt: null,
    };
    return { state, since: instantAt(calendar.timeZone, epochDayOf(periodStart), 0) };
  });
  const sums = await sumPoints(tx, started);
  const states = started.map(({ state }) => ({
    ...state,
    periodPoints: sums.get(keyOf(state.projectId, state.cardId)) ?? 0n,
  }));
  await openMemberTiers(tx, states);
  return new Set(states.map(({ projectId, cardId }) => keyOf(projectId, cardId)));
}

type Started = {
  readonly state: TierState;
  /** The beginning of the qualification period. */
  readonly since: number;
};

/** The points of the period until the cards start, also for programs that do not need them: their settings may change. */
const sumPoints = (tx: Queryable, started: readonly Started[]) =>
  sumPeriodPoints(
    tx,
    started
      .filter(({ state }) => state.ledgerVersion > 0n)
      .map(({ state: { projectId, cardId, ledgerVersion: version }, since }) => ({
        projectId,
        cardId,
        version,
        since,
      })),
  );

/**
 * When a card starts in tiers, and from which id on its entries follow. Ids have real time: the clock of a sandbox does not
 * tell what was written before the first tier.
 */
function startOf(
  { projectId, campaignId, joinedAt }: LoyaltyMember,
  programOf: ProgramOf,
): { readonly at: number; readonly afterId: string } {
  const { tiers, calendar } = programOf({ projectId, campaignId: campaignId ?? "" });
  const [first] = tiers.toSorted((a, b) => a.createdAt - b.createdAt);
  return {
    at: Math.min(Math.max(joinedAt, first?.createdAt ?? 0), projectTime(calendar)),
    afterId: `vtx_${first?.id.split("_")[1] ?? ""}`,
  };
}
