import { addDays } from "../domain/local-date.ts";
import { expireDue } from "../points/expire-due.ts";
import { lockCards } from "../store/cards.ts";
import { findDueCards, findNextExpiration } from "../store/due-points.ts";
import { followCards } from "../tiers/follow-cards.ts";
import type { NightlyStep } from "./nightly-step.ts";

const BATCH = 500;

/** Points expire at the midnight after the last day on which they can be spent. */
export const expirePointsStep: NightlyStep = {
  nextDate: async (db, projectId, { after, until }) => {
    const last = await findNextExpiration(db, projectId, { from: after, before: until });
    return last === null ? null : addDays(last, 1);
  },
  run: async (deps, { projectId, date, at }, isOver) => {
    const { db, newId, onEvents } = deps;
    // Each card once: points whose expiry a pending hold prevents stay due.
    for (let lastId = ""; ;) {
      if (isOver()) return false;
      const ids = await findDueCards(db, { projectId, before: date, after: lastId, limit: BATCH });
      if (ids.length === 0) return true;
      await db.transaction(async (tx) => {
        const names = ids.map((cardId) => ({ projectId, cardId }));
        const cards = await lockCards(tx, names);
        await expireDue(tx, { newId }, { cards, times: new Map([[projectId, at]]) });
        await followCards(tx, deps, names);
      });
      onEvents();
      lastId = ids.at(-1) ?? "";
    }
  },
};
