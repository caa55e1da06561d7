import { addDays } from "../domain/local-date.ts";
import { expireDue } from "../points/expire-due.ts";
import { lockCards } from "../store/cards.ts";
import { findDueCards, findNextExpiration } from "../store/due-points.ts";
import { followCards } from "../tiers/follow-cards.ts";
import type { NightlyStep } from "./nightly-step.ts";
import { pagesOf, workOnCards } from "./work-on-cards.ts";

const BATCH = 500;

/** Points expire at the midnight after the last day on which they can be spent. */
export const expirePointsStep: NightlyStep = {
  nextDate: async (db, projectId, { after, until }) => {
    const last = await findNextExpiration(db, projectId, { from: after, before: until });
    return last === null ? null : addDays(last, 1);
  },
  run: (deps, { projectId, date, at }, isOver) => {
    const { db, newId, onEvents } = deps;
    return workOnCards(
      // Each card once: points whose expiry a pending hold prevents stay due.
      pagesOf(BATCH, (after, limit) => findDueCards(db, { projectId, before: date, after, limit })),
      async (cardIds) => {
        await db.transaction(async (tx) => {
          const names = cardIds.map((cardId) => ({ projectId, cardId }));
          const cards = await lockCards(tx, names);
          await expireDue(tx, { newId }, { cards, times: new Map([[projectId, at]]) });
          await followCards(tx, deps, names);
        });
        onEvents();
      },
      isOver,
    );
  },
};
