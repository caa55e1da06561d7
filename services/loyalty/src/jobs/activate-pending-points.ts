import { activateEntries } from "../points/change-pending.ts";
import { settleCards } from "../points/settle-cards.ts";
import { lockCards } from "../store/cards.ts";
import {
  findCardsWithDuePending,
  findDuePendingPoints,
  findNextActivation,
} from "../store/due-pending-points.ts";
import type { NightlyStep } from "./nightly-step.ts";

const BATCH = 200;

/** Pending points become active at the midnight with which their date begins. */
export const activatePendingPointsStep: NightlyStep = {
  nextDate: findNextActivation,
  run: async (deps, { projectId, timeZone, date, at }, isOver) => {
    const { db, newId, onEvents } = deps;
    for (let after = ""; ;) {
      if (isOver()) return false;
      const due = { projectId, date };
      const ids = await findCardsWithDuePending(db, { ...due, after, limit: BATCH });
      if (ids.length === 0) return true;
      await db.transaction(async (tx) => {
        const cards = ids.map((cardId) => ({ projectId, cardId }));
        await lockCards(tx, cards);
        // After the lock, which orders all changes of the cards' entries.
        const entries = await findDuePendingPoints(tx, { ...due, cardIds: ids });
        await activateEntries(tx, { newId }, entries, { at, timeZone, source: "Automation" });
        await settleCards(tx, deps, cards, { time: at });
      });
      onEvents();
      after = ids.at(-1) ?? "";
    }
  },
};
