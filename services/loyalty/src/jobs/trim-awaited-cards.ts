import type { Database } from "@scrip/postgres";
import { startPeriodicJob } from "@scrip/rpc";

import { trimAwaitedCards } from "../store/awaited-cards.ts";

const EVERY_MS = 3_600_000;

/** Deletes events that waited for a card in vain, until disposed. */
export const startAwaitedCardTrim = (
  db: Database,
  onError: (error: Error) => void,
): AsyncDisposable =>
  startPeriodicJob({ everyMs: EVERY_MS, work: () => trimAwaitedCards(db), onError });
