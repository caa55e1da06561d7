import { findCardsWithDueTier, findNextTierDate } from "../store/member-tiers.ts";
import { followCards } from "../tiers/follow-cards.ts";
import type { NightlyStep } from "./nightly-step.ts";
import { pagesOf, workOnCards } from "./work-on-cards.ts";

const BATCH = 200;

/** Tiers that ended, and tiers that start with a qualification period. */
export const changeTiersStep: NightlyStep = {
  nextDate: findNextTierDate,
  run: (deps, { projectId, date }, isOver) =>
    workOnCards(
      pagesOf(BATCH, (after, limit) =>
        findCardsWithDueTier(deps.db, { projectId, date, after, limit }),
      ),
      async (cardIds) => {
        const cards = cardIds.map((cardId) => ({ projectId, cardId }));
        await deps.db.transaction((tx) => followCards(tx, deps, cards, { until: date }));
        deps.onEvents();
      },
      isOver,
    ),
};
