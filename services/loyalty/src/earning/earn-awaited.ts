import { type EventEnvelope, originHeaders } from "@scrip/events";
import type { Queryable } from "@scrip/postgres";

import type { Deps } from "../deps.ts";
import { keyOf } from "../domain/key.ts";
import type { LoyaltyMember } from "../domain/loyalty-program.ts";
import { earningTriggerOf } from "../mapping/earning-trigger.ts";
import { type AwaitedCard, takeAwaitedCards } from "../store/awaited-cards.ts";
import { lockCustomers } from "../store/customers.ts";
import { currentDefinitions, earn } from "./earn.ts";

/** Locks the customers before their cards are stored: a concurrent accrual that waits for a card is then either found here, or
 * finds the card. */
export const lockHolders = async (
  tx: Queryable,
  members: readonly LoyaltyMember[],
): Promise<void> => {
  await lockCustomers(tx, members);
};

/** Grants the accruals that waited for the cards stored in this transaction. Events from before a card was held earn nothing. */
export async function earnAwaited(
  tx: Queryable,
  deps: Deps,
  members: readonly LoyaltyMember[],
): Promise<void> {
  const cards = new Map(
    members.flatMap((member) => {
      const { projectId, customerId, campaignId } = member;
      if (campaignId === null) return [];
      return [[keyOf(projectId, customerId, campaignId), { ...member, campaignId }] as const];
    }),
  );
  const awaited = await takeAwaitedCards(tx, [...cards.values()]);
  const items = awaited.flatMap((waiting) => {
    const event = envelopeOf(waiting);
    const trigger = earningTriggerOf(event);
    const { projectId, customerId, campaignId } = waiting;
    const card = cards.get(keyOf(projectId, customerId, campaignId));
    if (trigger === undefined || card === undefined) return [];
    if (!waiting.requested && card.joinedAt > trigger.at) return [];
    return [{ trigger: { ...trigger, cardId: card.cardId }, event }];
  });
  if (items.length === 0) return;
  await earn(tx, deps, { items, definitions: await currentDefinitions(deps, items) });
}

const envelopeOf = ({
  projectId,
  customerId,
  eventId,
  topic,
  type,
  payload,
  origin,
}: AwaitedCard): EventEnvelope => ({
  id: eventId,
  topic,
  key: customerId,
  projectId,
  type,
  payload,
  headers: origin === undefined ? {} : originHeaders(origin),
  occurredAt: new Date(0),
});
