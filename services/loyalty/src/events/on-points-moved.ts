import { enqueue, type EventHandler, eventMessage } from "@scrip/events";
import {
  type LoyaltyTiersChanged,
  LoyaltyTiersChangedSchema,
} from "@scrip/proto/scrip/events/v1/loyalty_tiers_pb";
import { PointsMovedSchema } from "@scrip/proto/scrip/events/v1/points_pb";

import type { Deps } from "../deps.ts";
import { keyOf } from "../domain/key.ts";
import { settleCards } from "../points/settle-cards.ts";
import { type CardKey, findCardsOfProgram, queueHolders } from "../store/loyalty-members.ts";
import { followCards } from "../tiers/follow-cards.ts";
import { loyaltyTiersChangedEvent } from "./loyalty-tier-changed.ts";

/** Members that one event evaluates. */
const SLICE = 500;

/** Redeems rewards automatically, brings tiers up to the ledgers of cards, and evaluates members when the tiers of their program change. Repeatable. */
export const onPointsMoved =
  (deps: Deps): EventHandler =>
  async (events) => {
    const moved = events.flatMap((event) => eventMessage(event, PointsMovedSchema) ?? []);
    // Segments count the points of all cards.
    await queueHolders(deps.db, moved);
    // A card outside programs has no tier.
    const ofPrograms = moved.filter(({ campaignId }) => campaignId !== undefined);
    const cards = new Map(
      ofPrograms.map(({ projectId, cardId }): [string, CardKey] => [
        keyOf(projectId, cardId),
        { projectId, cardId },
      ]),
    );
    if (cards.size > 0) {
      await deps.db.transaction((tx) => settleCards(tx, deps, [...cards.values()]));
    }
    for (const event of events) {
      const change = eventMessage(event, LoyaltyTiersChangedSchema);
      if (change !== undefined) await evaluateSlice(deps, change);
    }
    deps.onEvents();
  };

const evaluateSlice = (deps: Deps, change: LoyaltyTiersChanged): Promise<void> =>
  deps.db.transaction(async (tx) => {
    const cards = await findCardsOfProgram(tx, { ...change, limit: SLICE });
    const program = change.recalculate ? "recalculate" : "requalify";
    await followCards(tx, deps, cards, { program });
    const last = cards.at(-1);
    if (cards.length < SLICE || last === undefined) return;
    const next = { ...change, afterCardId: last.cardId };
    await enqueue(tx, [loyaltyTiersChangedEvent(deps.newId("event"), next)]);
  });
