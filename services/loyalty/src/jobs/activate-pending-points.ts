import { INTERNAL } from "@scrip/events";

import { activateEntries } from "../points/change-pending.ts";
import { settleCards } from "../points/settle-cards.ts";
import { lockCards } from "../store/cards.ts";
import {
  findCardsWithDuePending,
  findDuePendingPoints,
  findNextActivation,
} from "../store/due-pending-points.ts";
import type { NightlyStep } from "./nightly-step.ts";
import { pagesOf, workOnCards } from "./work-on-cards.ts";

const BATCH = 200;

/** Pending points become active at the midnight with which their date begins. */
export const activatePendingPointsStep: NightlyStep = {
  nextDate: findNextActivation,
  run: (deps, { projectId, date, at, time, expiredBefore }, isOver) => {
    const { db, newId, onEvents } = deps;
    const due = { projectId, date };
    return workOnCards(
      pagesOf(BATCH, (after, limit) => findCardsWithDuePending(db, { ...due, after, limit })),
      async (cardIds) => {
        await db.transaction(async (tx) => {
          const cards = cardIds.map((cardId) => ({ projectId, cardId }));
          await lockCards(tx, cards);
          // After the lock, which orders all changes of the cards' entries.
          const entries = await findDuePendingPoints(tx, { ...due, cardIds });
          await activateEntries(tx, { newId }, entries, {
            at,
            today: date,
            expiredBefore,
            source: "Automation",
            origin: INTERNAL,
          });
          await settleCards(tx, deps, cards, { time, expiredBefore });
        });
        onEvents();
      },
      isOver,
    );
  },
};
