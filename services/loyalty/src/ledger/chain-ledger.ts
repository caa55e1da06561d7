import type { Queryable } from "@scrip/postgres";

import type { Card, NewLedgerEntry } from "../domain/card.ts";
import { keyOf } from "../domain/key.ts";
import { findEntriesToChain, saveHashes } from "../store/ledger-chain.ts";
import { chainEntries, type ChainedEntry, hashEntry } from "./chain-entries.ts";

/**
 * Links new entries to those before them, and returns the cards, in their order, with the new ends of their chains. The
 * cards must be locked. Costs no statement unless a card has entries without a hash.
 */
export async function chainNewEntries(
  tx: Queryable,
  cards: ReadonlyMap<string, Card>,
  entries: readonly NewLedgerEntry[],
): Promise<{
  readonly cards: ReadonlyMap<string, Card>;
  readonly entries: readonly ChainedEntry[];
}> {
  const news = Map.groupBy(entries, ({ projectId, cardId }) => keyOf(projectId, cardId));
  const complete = new Map(cards);
  for (const [key, card] of cards) {
    const added = news.get(key)?.length ?? 0;
    const stored = card.ledgerVersion - BigInt(added);
    if (added > 0 && card.chainedVersion < stored) {
      complete.set(key, await chainStoredEntries(tx, card, stored));
    }
  }
  return chainEntries(complete, entries);
}

const PAGE = 1_000;

/**
 * Adds the hashes that entries up to a version lack: those from before the upgrade, and those that an older version of the
 * service wrote during it. The card must be locked; the caller saves it.
 */
export async function chainStoredEntries(
  tx: Queryable,
  card: Card,
  lastVersion: bigint = card.ledgerVersion,
): Promise<Card> {
  let { chainedVersion, ledgerHash } = card;
  while (chainedVersion < lastVersion) {
    const page = { after: chainedVersion, until: lastVersion, limit: PAGE };
    const entries = await findEntriesToChain(tx, card, page);
    if (entries.length === 0) throw new Error(`card ${card.id} lacks entry ${chainedVersion + 1n}`);
    const links = entries.map((entry) => {
      const previousHash = ledgerHash;
      ledgerHash = hashEntry(entry, previousHash);
      return { ...entry, previousHash, hash: ledgerHash };
    });
    await saveHashes(tx, links);
    chainedVersion = entries.at(-1)?.version ?? lastVersion;
  }
  return { ...card, chainedVersion, ledgerHash };
}
