import { INTERNAL, type Origin } from "@scrip/events";

import { keyOf } from "../domain/key.ts";
import type { CardKey } from "../store/loyalty-members.ts";

/** What caused the work on a card; undefined: an event without an origin. */
export type OriginOf = (card: CardKey) => Origin | undefined;

/** Jobs work on cards by themselves. */
export const internally: OriginOf = () => INTERNAL;

/** Of a card with several events in a batch, the last one counts. */
export function originsOfCards(
  causes: readonly { readonly card: CardKey; readonly origin: Origin | undefined }[],
): OriginOf {
  const origins = new Map(
    causes.map(({ card, origin }) => [keyOf(card.projectId, card.cardId), origin]),
  );
  return ({ projectId, cardId }) => origins.get(keyOf(projectId, cardId));
}
