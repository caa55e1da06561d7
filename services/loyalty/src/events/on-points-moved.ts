import { causedMessages, enqueue, type EventHandler, type Origin } from "@scrip/events";
import {
  type LoyaltyTiersChanged,
  LoyaltyTiersChangedSchema,
} from "@scrip/proto/scrip/events/v1/loyalty_tiers_pb";
import { PointsMovedSchema } from "@scrip/proto/scrip/events/v1/points_pb";

import type { Deps } from "../deps.ts";
import { keyOf } from "../domain/key.ts";
import { originsOfCards } from "../points/card-origins.ts";
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
    const moved = causedMessages(events, PointsMovedSchema).map(({ message: card, origin }) => ({
      card,
      origin,
    }));
    // Segments count the points of all cards.
    await queueHolders(
      deps.db,
      moved.map(({ card }) => card),
    );
    // A card outside programs has no tier.
    const ofPrograms = moved.filter(({ card }) => card.campaignId !== undefined);
    const cards = new Map(
      ofPrograms.map(({ card: { projectId, cardId } }): [string, CardKey] => [
        keyOf(projectId, cardId),
        { projectId, cardId },
      ]),
    );
    if (cards.size > 0) {
      const options = { originOf: originsOfCards(ofPrograms) };
      await deps.db.transaction((tx) => settleCards(tx, deps, [...cards.values()], options));
    }
    for (const { message, origin } of causedMessages(events, LoyaltyTiersChangedSchema)) {
      await evaluateSlice(deps, message, origin);
    }
    deps.onEvents();
  };

const evaluateSlice = (
  deps: Deps,
  change: LoyaltyTiersChanged,
  origin: Origin | undefined,
): Promise<void> =>
  deps.db.transaction(async (tx) => {
    const cards = await findCardsOfProgram(tx, { ...change, limit: SLICE });
    const program = change.recalculate ? "recalculate" : "requalify";
    await followCards(tx, deps, cards, { program, originOf: () => origin });
    const last = cards.at(-1);
    if (cards.length < SLICE || last === undefined) return;
    const next = { ...change, afterCardId: last.cardId };
    await enqueue(tx, [loyaltyTiersChangedEvent(deps.newId("event"), next)], origin);
  });
