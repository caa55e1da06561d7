import { type DeliveredEvent, enqueue, type EventHandler, eventMessage } from "@scrip/events";
import {
  type LoyaltyTiersChanged,
  LoyaltyTiersChangedSchema,
} from "@scrip/proto/scrip/events/v1/loyalty_tiers_pb";
import { PointsMovedSchema } from "@scrip/proto/scrip/events/v1/points_pb";

import type { Deps } from "../deps.ts";
import { keyOf } from "../domain/key.ts";
import { settleCards } from "../points/settle-cards.ts";
import { type CardKey, findCardsOfProgram } from "../store/loyalty-members.ts";
import { followCards } from "../tiers/follow-cards.ts";
import { loyaltyTiersChangedEvent } from "./loyalty-tier-changed.ts";

/** Members that one event evaluates. */
const SLICE = 500;

/** Redeems rewards automatically, brings tiers up to the ledgers of cards, and evaluates members when the tiers of their program change. Repeatable. */
export const onPointsMoved =
  (deps: Deps): EventHandler =>
  async (events) => {
    const cards = new Map(
      events
        .flatMap((event) => cardOf(event) ?? [])
        .map((card) => [keyOf(card.projectId, card.cardId), card]),
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

function cardOf(event: DeliveredEvent): CardKey | undefined {
  const moved = eventMessage(event, PointsMovedSchema);
  // A card outside programs has no tier.
  if (moved?.campaignId === undefined) return undefined;
  return { projectId: moved.projectId, cardId: moved.cardId };
}

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
