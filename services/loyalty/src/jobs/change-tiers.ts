import { findCardsWithDueTier, findNextTierDate } from "../store/member-tiers.ts";
import { followCards } from "../tiers/follow-cards.ts";
import type { NightlyStep } from "./nightly-step.ts";

const BATCH = 200;

/** Tiers that ended, and tiers that start with a qualification period. */
export const changeTiersStep: NightlyStep = {
  nextDate: findNextTierDate,
  run: async (deps, { projectId, date }, isOver) => {
    for (let after = ""; ;) {
      if (isOver()) return false;
      const cards = await findCardsWithDueTier(deps.db, { projectId, date, after, limit: BATCH });
      const last = cards.at(-1);
      if (last === undefined) return true;
      await deps.db.transaction((tx) => followCards(tx, deps, cards, { until: date }));
      deps.onEvents();
      after = last.cardId;
    }
  },
};
