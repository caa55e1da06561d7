import type { CardReference as CardReferenceMessage } from "@scrip/proto/scrip/loyalty/v1/cards_pb";

import type { CardReference } from "../domain/card.ts";

export function cardReferenceFromProto(message: CardReferenceMessage | undefined): CardReference {
  if (message === undefined) throw new Error("the caller names the card");
  const { projectId, cardId, initialPoints, campaignId } = message;
  return { projectId, cardId, initialPoints, campaignId };
}
