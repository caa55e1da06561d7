import { autoRedeem } from "../reward/auto-redeem.ts";
import {
  findCardsWithPoints,
  findNextAutoRedeemNight,
  listAutoRedeemingPrograms,
  saveAutoRedeemNight,
} from "../store/auto-redemptions.ts";
import type { NightlyStep } from "./nightly-step.ts";

const BATCH = 200;

/** Redeems rewards that a limit of the day, a lack of stock or a later assignment left. */
export const autoRedeemStep: NightlyStep = {
  nextDate: (db, projectId, { until }) => findNextAutoRedeemNight(db, projectId, until),
  run: async (deps, { projectId, date, at }, isOver) => {
    const { db, onEvents } = deps;
    let redeemed = false;
    for (const campaignId of await listAutoRedeemingPrograms(db, projectId)) {
      for (let after = ""; ;) {
        if (isOver()) return false;
        const cards = await findCardsWithPoints(db, { projectId, campaignId, after, limit: BATCH });
        const last = cards.at(-1);
        if (last === undefined) break;
        const count = await db.transaction((tx) => autoRedeem(tx, deps, cards, { time: at }));
        redeemed ||= count > 0;
        onEvents();
        after = last.cardId;
      }
    }
    await saveAutoRedeemNight(db, projectId, { date, redeemed });
    return true;
  },
};
