import { autoRedeem } from "../reward/auto-redeem.ts";
import {
  findNextAutoRedeemNight,
  keepCardsWithPoints,
  listAutoRedeemingPrograms,
  saveAutoRedeemNight,
} from "../store/auto-redemptions.ts";
import { findCardsOfProgram } from "../store/loyalty-members.ts";
import type { NightlyDeps, NightlyStep } from "./nightly-step.ts";
import { pagesOf, workOnCards } from "./work-on-cards.ts";

const BATCH = 200;

/** Redeems rewards that a limit of the day, a lack of stock or a later assignment left, once a night. */
export const autoRedeemStep: NightlyStep = {
  nextDate: (db, projectId, { until }) => findNextAutoRedeemNight(db, projectId, until),
  run: async (deps, { projectId, date, today, time, expiredBefore }, isOver) => {
    const { db, onEvents } = deps;
    const due = await findNextAutoRedeemNight(db, projectId, today);
    if (due === null || due > date) return { finished: true, failure: null };
    let redeemed = false;
    const result = await workOnCards(
      cardsOfPrograms(deps, projectId),
      async (cardIds) => {
        const cards = await keepCardsWithPoints(db, projectId, cardIds);
        if (cards.length === 0) return;
        const options = { time, expiredBefore };
        const count = await db.transaction((tx) => autoRedeem(tx, deps, cards, options));
        redeemed ||= count > 0;
        onEvents();
      },
      isOver,
    );
    if (result.finished) await saveAutoRedeemNight(db, projectId, { date, redeemed });
    return result;
  },
};

async function* cardsOfPrograms({ db }: NightlyDeps, projectId: string) {
  for (const campaignId of await listAutoRedeemingPrograms(db, projectId)) {
    const program = { projectId, campaignId, limit: BATCH };
    yield* pagesOf(async (afterCardId) => {
      const cards = await findCardsOfProgram(db, { ...program, afterCardId });
      return cards.map(({ cardId }) => cardId);
    });
  }
}
