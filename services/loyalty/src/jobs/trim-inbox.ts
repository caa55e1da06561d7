import { setTimeout as sleep } from "node:timers/promises";

import { trimInbox } from "@scrip/events";
import type { Database } from "@scrip/postgres";

const EVERY_MS = 60 * 60_000;

/** Forgets events that are too old to come again, until disposed. */
export function startInboxTrim(db: Database, onError: (error: Error) => void): AsyncDisposable {
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
      await trimInbox(db);
    } catch (error) {
      onError(error instanceof Error ? error : new Error(String(error)));
    }
    await sleep(EVERY_MS, undefined, { signal, ref: false }).catch(() => {});
  }
}
