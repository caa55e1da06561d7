import { timestampMs } from "@bufbuild/protobuf/wkt";
import { type DeliveredEvent, type EventHandler, eventMessage } from "@scrip/events";
import type { Database } from "@scrip/postgres";
import {
  VoucherDeletedSchema,
  VoucherPublishedSchema,
} from "@scrip/proto/scrip/events/v1/vouchers_pb";

import { keyOf } from "../domain/key.ts";
import type { LoyaltyMember } from "../domain/loyalty-program.ts";
import { type CardKey, deleteMembers, saveMembers } from "../store/loyalty-members.ts";

export const VOUCHERS_TOPIC = "scrip.vouchers.v1";

type MemberChange = { readonly card: CardKey; readonly member: LoyaltyMember | null };

/** Stores who holds which loyalty card, until the card is deleted: a repeated event changes nothing. */
export const onMember =
  (db: Database): EventHandler =>
  async (events) => {
    const changes = events.flatMap((event) => changeOf(event) ?? []);
    if (changes.length === 0) return;
    const latest = [
      ...new Map(changes.map((one) => [keyOf(one.card.projectId, one.card.cardId), one])).values(),
    ];
    await db.transaction(async (tx) => {
      await saveMembers(
        tx,
        latest.flatMap(({ member }) => member ?? []),
      );
      await deleteMembers(
        tx,
        latest.flatMap(({ card, member }) => (member === null ? [card] : [])),
      );
    });
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
