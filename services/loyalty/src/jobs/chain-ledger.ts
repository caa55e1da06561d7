import type { Database } from "@scrip/postgres";
import { startPeriodicJob } from "@scrip/rpc";

import { chainStoredEntries } from "../ledger/chain-ledger.ts";
import { lockCards, saveCards } from "../store/cards.ts";
import { type CardPosition, findUnchainedCards } from "../store/ledger-chain.ts";

const EVERY_MS = 24 * 3_600_000;
const BATCH = 1_000;
const ENTRIES = 1_000n;

/**
 * Adds the hashes of entries from before the upgrade. Repeatable: entries with a hash are not changed. New entries do not wait
 * for it.
 */
export async function chainLedger(
  db: Database,
  { onError, signal }: { readonly onError: (error: Error) => void; readonly signal: AbortSignal },
): Promise<void> {
  for (let after: CardPosition | null = { projectId: "", id: "" }; after !== null;) {
    const { last, unchained } = await findUnchainedCards(db, after, BATCH);
    for (const card of unchained) {
      if (signal.aborted) return;
      // A damaged card must not keep the others from being chained.
      await chainCard(db, card, signal).catch(onError);
    }
    after = last;
  }
}

/** A transaction chains a bounded number of entries, so that changes of the card wait only briefly. */
async function chainCard(
  db: Database,
  { projectId, id: cardId }: CardPosition,
  signal: AbortSignal,
): Promise<void> {
  for (let isDone = false; !isDone && !signal.aborted;) {
    isDone = await db.transaction(async (tx) => {
      const [card] = (await lockCards(tx, [{ projectId, cardId }])).values();
      if (card === undefined || card.chainedVersion === card.ledgerVersion) return true;
      const end = card.chainedVersion + ENTRIES;
      const last = end < card.ledgerVersion ? end : card.ledgerVersion;
      await saveCards(tx, [await chainStoredEntries(tx, card, last)]);
      return last === card.ledgerVersion;
    });
  }
}

/** Runs `chainLedger` at the start and once a day, for what replicas of an older version wrote since. Until disposed. */
export const startLedgerChaining = (
  db: Database,
  onError: (error: Error) => void,
): AsyncDisposable =>
  startPeriodicJob({
    everyMs: EVERY_MS,
    work: (signal) => chainLedger(db, { onError, signal }),
    onError,
  });
