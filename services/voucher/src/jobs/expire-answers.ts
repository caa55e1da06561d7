import { setTimeout as sleep } from "node:timers/promises";

import type { Database } from "@scrip/postgres";

import { deleteOldAnswers } from "../store/idempotency.ts";

/** How long an answer is given again to a repeat (spec/rulings.md 5). */
const KEPT_HOURS = 48;
/** Small enough to hold no lock for long. */
const CHUNK = 1000;
const EVERY_MS = 10 * 60_000;

/** Forgets old answers, a chunk at a time, until disposed. */
export function startAnswerExpiry(db: Database, onError: (error: Error) => void): AsyncDisposable {
  const stopping = new AbortController();
  const running = run(db, { signal: stopping.signal, onError });
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await running;
    },
  };
}

async function run(
  db: Database,
  { signal, onError }: { readonly signal: AbortSignal; readonly onError: (error: Error) => void },
): Promise<void> {
  while (!signal.aborted) {
    try {
      // Another full chunk is likely after a full one, so there is no pause between them.
      while (!signal.aborted && (await deleteOldAnswers(db, KEPT_HOURS, CHUNK)) === CHUNK);
    } catch (error) {
      onError(error instanceof Error ? error : new Error(String(error)));
    }
    await sleep(EVERY_MS, undefined, { signal, ref: false }).catch(() => {});
  }
}
