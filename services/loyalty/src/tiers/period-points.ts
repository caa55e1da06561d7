import type { Queryable } from "@scrip/postgres";
import { instantAt } from "@scrip/rules";

import { keyOf } from "../domain/key.ts";
import { epochDayOf, type LocalDate } from "../domain/local-date.ts";
import type { TierState } from "../domain/tiers/follow-ledger.ts";
import { startOfTierPeriod } from "../domain/tiers/tier-dates.ts";
import { sumPeriodPoints } from "../store/member-tiers.ts";
import type { ProgramOf } from "./tier-programs.ts";

/** A card, and a date in the period whose points are needed. */
export type CardOnDate = { readonly state: TierState; readonly date: LocalDate };

/**
 * The points of a period up to the last entry that a state counts, by `keyOf` of project and card, of cards whose state has the
 * points of another period: a new one has begun, or the program has changed the period by which members qualify. Costs no
 * statement for other cards.
 */
export async function loadPeriodPoints(
  tx: Queryable,
  cards: readonly CardOnDate[],
  programOf: ProgramOf,
): Promise<ReadonlyMap<string, bigint>> {
  return sumPeriodPoints(
    tx,
    cards.flatMap(({ state, date }) => {
      const { policy, calendar } = programOf(state);
      const start = startOfTierPeriod(policy.period, date);
      if (policy.qualification !== "POINTS_IN_PERIOD" || state.periodStart === start) return [];
      const { projectId, cardId, ledgerVersion: version } = state;
      const since = instantAt(calendar.timeZone, epochDayOf(start), 0);
      return [{ projectId, cardId, version, since }];
    }),
  );
}

/** States with the points of the period that a date is in. */
export async function inPeriodOf(
  tx: Queryable,
  cards: readonly CardOnDate[],
  programOf: ProgramOf,
): Promise<readonly TierState[]> {
  const sums = await loadPeriodPoints(tx, cards, programOf);
  return cards.map(({ state, date }) => {
    const { policy } = programOf(state);
    const periodStart = startOfTierPeriod(policy.period, date);
    if (policy.qualification !== "POINTS_IN_PERIOD" || state.periodStart === periodStart)
      return state;
    return {
      ...state,
      periodStart,
      periodPoints: sums.get(keyOf(state.projectId, state.cardId)) ?? 0n,
    };
  });
}
