import { timestampMs } from "@bufbuild/protobuf/wkt";
import { type DeliveredEvent, type EventHandler, eventMessage } from "@scrip/events";
import { optionalInstantFromProto } from "@scrip/mapping";
import {
  LoyaltyCardChangedSchema,
  VoucherDeletedSchema,
  VoucherPublishedSchema,
} from "@scrip/proto/scrip/events/v1/vouchers_pb";

import type { Deps } from "../deps.ts";
import { keyOf } from "../domain/key.ts";
import type { LoyaltyMember } from "../domain/loyalty-program.ts";
import { earnAwaited, lockHolders } from "../earning/earn-awaited.ts";
import { settleCards } from "../points/settle-cards.ts";
import { deleteCardStates, saveCardStates, type VersionedState } from "../store/card-states.ts";
import { type CardKey, deleteMembers, saveMembers } from "../store/loyalty-members.ts";
import { deleteMemberTiers } from "../store/member-tiers.ts";

export const VOUCHERS_TOPIC = "scrip.vouchers.v1";

type MemberChange = { readonly card: CardKey; readonly member: LoyaltyMember | null };

/**
 * Stores who holds which loyalty card and when it can be used, until the card is deleted, and earns the points that wait for
 * a card. A repeated event changes nothing.
 */
export const onMember =
  (deps: Deps): EventHandler =>
  async (events) => {
    const changes = events.flatMap((event) => changeOf(event) ?? []);
    const states = events.flatMap((event) => stateOf(event) ?? []);
    if (changes.length + states.length === 0) return;
    const latest = [
      ...new Map(changes.map((one) => [keyOf(one.card.projectId, one.card.cardId), one])).values(),
    ];
    const members = latest.flatMap(({ member }) => member ?? []);
    await deps.db.transaction(async (tx) => {
      await lockHolders(tx, members);
      await saveCardStates(tx, states);
      await saveMembers(tx, members);
      const deleted = latest.flatMap(({ card, member }) => (member === null ? [card] : []));
      await deleteMembers(tx, deleted);
      await deleteCardStates(tx, deleted);
      await deleteMemberTiers(tx, deleted);
      await earnAwaited(tx, deps, members);
    });
    // A card can start with the points of a tier. Points that moved before have found no member: after the commit, either
    // they are seen here, or their event sees the member.
    await deps.db.transaction((tx) => settleCards(tx, deps, members, { movedOnly: true }));
    deps.onEvents();
  };

function changeOf(event: DeliveredEvent): MemberChange | undefined {
  const published = eventMessage(event, VoucherPublishedSchema);
  if (published !== undefined) {
    const { projectId, voucherId: cardId, campaignId, customerId, loyaltyPoints, date } = published;
    if (loyaltyPoints === undefined || date === undefined) return undefined;
    const card = { projectId, cardId };
    const joinedAt = timestampMs(date);
    return {
      card,
      member: {
        ...card,
        campaignId: campaignId ?? null,
        customerId,
        initialPoints: loyaltyPoints,
        joinedAt,
      },
    };
  }
  const deleted = eventMessage(event, VoucherDeletedSchema);
  if (deleted === undefined) return undefined;
  return { card: { projectId: deleted.projectId, cardId: deleted.voucherId }, member: null };
}

function stateOf(event: DeliveredEvent): VersionedState | undefined {
  const changed = eventMessage(event, LoyaltyCardChangedSchema);
  return (
    changed && {
      projectId: changed.projectId,
      cardId: changed.voucherId,
      version: changed.version,
      active: changed.active,
      startDate: optionalInstantFromProto(changed.startDate),
      expirationDate: optionalInstantFromProto(changed.expirationDate),
    }
  );
}
