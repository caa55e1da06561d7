import { timestampMs } from "@bufbuild/protobuf/wkt";
import { type DeliveredEvent, type EventHandler, eventMessage, originOf } from "@scrip/events";
import { optionalInstantFromProto } from "@scrip/mapping";
import {
  CampaignVouchersDeletedSchema,
  LoyaltyCardChangedSchema,
  VoucherDeletedSchema,
  VoucherPublishedSchema,
} from "@scrip/proto/scrip/events/v1/vouchers_pb";

import type { Deps } from "../deps.ts";
import { keyOf } from "../domain/key.ts";
import type { LoyaltyMember } from "../domain/loyalty-program.ts";
import { earnAwaited, lockHolders } from "../earning/earn-awaited.ts";
import { originsOfCards } from "../points/card-origins.ts";
import { settleCards } from "../points/settle-cards.ts";
import { deleteCardStates, saveCardStates, type VersionedState } from "../store/card-states.ts";
import { type CardKey, deleteMembers, saveMembers } from "../store/loyalty-members.ts";
import { deleteMemberTiers } from "../store/member-tiers.ts";

export const VOUCHERS_TOPIC = "scrip.vouchers.v1";

/** Cards that one statement deletes: a campaign can have millions. */
const DELETED_CARDS = 5_000;

type MemberChange = { readonly card: CardKey; readonly member: LoyaltyMember | null };

/**
 * Stores who holds which loyalty card and when it can be used, until the card is deleted, and earns the points that wait for
 * a card. A repeated event changes nothing.
 */
export const onMember =
  (deps: Deps): EventHandler =>
  async (events) => {
    const changes = events.flatMap((event) =>
      changesOf(event).map((change) => ({ ...change, origin: originOf(event) })),
    );
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
      for (let from = 0; from < deleted.length; from += DELETED_CARDS) {
        const chunk = deleted.slice(from, from + DELETED_CARDS);
        await deleteMembers(tx, chunk);
        await deleteCardStates(tx, chunk);
        await deleteMemberTiers(tx, chunk);
      }
      await earnAwaited(tx, deps, members);
    });
    // A card can start with the points of a tier. Points that moved before have found no member: after the commit, either
    // they are seen here, or their event sees the member.
    const options = { movedOnly: true, originOf: originsOfCards(latest) };
    await deps.db.transaction((tx) => settleCards(tx, deps, members, options));
    deps.onEvents();
  };

function changesOf(event: DeliveredEvent): readonly MemberChange[] {
  const published = eventMessage(event, VoucherPublishedSchema);
  if (published !== undefined) {
    const { projectId, voucherId: cardId, campaignId, customerId, loyaltyPoints, date } = published;
    if (loyaltyPoints === undefined || date === undefined) return [];
    const card = { projectId, cardId };
    const joinedAt = timestampMs(date);
    const member = {
      ...card,
      campaignId: campaignId ?? null,
      customerId,
      initialPoints: loyaltyPoints,
      joinedAt,
    };
    return [{ card, member }];
  }
  const deleted = eventMessage(event, VoucherDeletedSchema);
  if (deleted !== undefined) return [deletionOf(deleted.projectId, deleted.voucherId)];
  const vouchers = eventMessage(event, CampaignVouchersDeletedSchema);
  return vouchers?.voucherIds.map((cardId) => deletionOf(vouchers.projectId, cardId)) ?? [];
}

const deletionOf = (projectId: string, cardId: string): MemberChange => ({
  card: { projectId, cardId },
  member: null,
});

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
