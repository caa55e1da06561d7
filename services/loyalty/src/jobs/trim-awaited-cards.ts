import type { Database } from "@scrip/postgres";
import { startExpiryJob } from "@scrip/rpc";

import { trimAwaitedCards } from "../store/awaited-cards.ts";

/** Deletes events that waited for a card in vain, until disposed. */
export const startAwaitedCardTrim = (
  db: Database,
  onError: (error: Error) => void,
): AsyncDisposable => startExpiryJob((limit) => trimAwaitedCards(db, limit), onError);
