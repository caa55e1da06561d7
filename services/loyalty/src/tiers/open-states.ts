import { projectTime } from "@scrip/clock";
import type { Queryable } from "@scrip/postgres";
import { instantAt } from "@scrip/rules";

import { keyOf } from "../domain/key.ts";
import { epochDayOf, localDateAt } from "../domain/local-date.ts";
import type { LoyaltyMember } from "../domain/loyalty-program.ts";
import type { TierState } from "../domain/tiers/follow-ledger.ts";
import { startOfTierPeriod } from "../domain/tiers/tier-dates.ts";
import { findCards } from "../store/cards.ts";
import { findMemberTiers, openMemberTiers, sumPeriodPoints } from "../store/member-tiers.ts";
import type { ProgramOf } from "./tier-programs.ts";

/** Starts the states of cards that have none with their current points; returns their keys. */
export async function openStates(
  tx: Queryable,
  members: readonly LoyaltyMember[],
  programOf: ProgramOf,
): Promise<ReadonlySet<string>> {
  const known = await findMemberTiers(tx, members);
  const missing = members.filter(({ projectId, cardId }) => !known.has(keyOf(projectId, cardId)));
  if (missing.length === 0) return new Set();
  const cards = await findCards(tx, missing);
  const started = missing.map((member) => {
    const { projectId, cardId, campaignId, customerId, initialPoints } = member;
    const card = cards.get(keyOf(projectId, cardId));
    const program = { projectId, campaignId: campaignId ?? "" };
    const { policy, calendar } = programOf(program);
    const now = projectTime(calendar);
    const periodStart = startOfTierPeriod(policy.period, localDateAt(calendar.timeZone, now));
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
      balance: card?.balance ?? initialPoints,
      heldPoints: 0n,
      ledgerVersion: card?.ledgerVersion ?? 0n,
      createdAt: now,
      updatedAt: null,
    };
    return { state, since: instantAt(calendar.timeZone, epochDayOf(periodStart), 0), policy };
  });
  const sums = await sumPeriodPoints(
    tx,
    started
      .filter(
        ({ state, policy }) =>
          policy.qualification === "POINTS_IN_PERIOD" && state.ledgerVersion > 0n,
      )
      .map(({ state: { projectId, cardId, ledgerVersion: version }, since }) => ({
        projectId,
        cardId,
        version,
        since,
      })),
  );
  const states = started.map(({ state }) => ({
    ...state,
    periodPoints: sums.get(keyOf(state.projectId, state.cardId)) ?? 0n,
  }));
  await openMemberTiers(tx, states);
  return new Set(states.map(({ projectId, cardId }) => keyOf(projectId, cardId)));
}
