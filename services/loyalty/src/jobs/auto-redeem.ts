import { autoRedeem } from "../reward/auto-redeem.ts";
import {
  findNextAutoRedeemNight,
  isAutoRedeemNightOver,
  keepCardsWithPoints,
  listAutoRedeemingPrograms,
  saveAutoRedeemNight,
} from "../store/auto-redemptions.ts";
import { findCardsOfProgram } from "../store/loyalty-members.ts";
import type { NightlyDeps, NightlyStep } from "./nightly-step.ts";
import { pagesOf, workOnCards } from "./work-on-cards.ts";

const BATCH = 200;
const NOTHING_LEFT = { finished: true, failure: null };

/**
 * Redeems rewards that a limit of the day or a lack of stock left, and those of points from before their assignment; once a
 * night.
 */
export const autoRedeemStep: NightlyStep = {
  nextDate: (db, projectId, { until }) => findNextAutoRedeemNight(db, projectId, until),
  run: async (deps, { projectId, date, today, time, expiredBefore }, isOver) => {
    const { db, onEvents } = deps;
    if (await isAutoRedeemNightOver(db, { projectId, date, today })) return NOTHING_LEFT;
    let redeemed = false;
    const result = await workOnCards(
      cardsOfPrograms(deps, projectId, time),
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
    if (result.finished) await saveAutoRedeemNight(db, { projectId, date, today, redeemed });
    return result;
  },
};

async function* cardsOfPrograms({ db }: NightlyDeps, projectId: string, time: number) {
  for (const campaignId of await listAutoRedeemingPrograms(db, projectId, time)) {
    const program = { projectId, campaignId };
    yield* pagesOf(BATCH, async (afterCardId, limit) => {
      const cards = await findCardsOfProgram(db, { ...program, afterCardId, limit });
      return cards.map(({ cardId }) => cardId);
    });
  }
}
