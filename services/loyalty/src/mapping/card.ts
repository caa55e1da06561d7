import { timestampMs, type Timestamp } from "@bufbuild/protobuf/wkt";
import type { CardBalances } from "@scrip/proto/scrip/loyalty/v1/cards_pb";

import { type Card, spendable } from "../domain/card.ts";

export const toFigures = (card: Card): CardBalances => ({
  $typeName: "scrip.loyalty.v1.CardBalances",
  points: card.points,
  balance: spendable(card),
  redeemedPoints: card.redeemedPoints + card.heldPoints,
});

/** Items of a batch carry the present of their projects. */
export function instantIn(message: { readonly now?: Timestamp | undefined }): number {
  if (message.now === undefined) throw new Error("a command without its present");
  return timestampMs(message.now);
}
