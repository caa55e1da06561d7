import { hash } from "node:crypto";

import type { Card, NewLedgerEntry } from "../domain/card.ts";
import { keyOf } from "../domain/key.ts";

/** An entry with its link to the one before it. */
export type ChainedEntry = NewLedgerEntry & {
  /** Null for the first entry of a card. */
  readonly previousHash: Uint8Array | null;
  readonly hash: Uint8Array;
};

/** The fields of an entry that its hash covers: all stored ones. Entries of old versions have no total. */
export type HashedEntry = Omit<NewLedgerEntry, "totalAfter"> & {
  readonly totalAfter: bigint | null;
};

/** SHA-256 of the canonical form of an entry, which includes the hash of the entry before it. */
export const hashEntry = (entry: HashedEntry, previousHash: Uint8Array | null): Buffer =>
  hash("sha256", canonicalForm(entry, previousHash), "buffer");

/**
 * The form that is hashed (docs/gift-and-points.md#hash-chain): a JSON array as in RFC 8785, which does not depend on how
 * the database or a file stores the entry. Its first item names the form, so that it can change.
 */
function canonicalForm(entry: HashedEntry, previousHash: Uint8Array | null): string {
  const lots = entry.lots
    .map(({ expiresOn, points }) => [expiresOn, String(points)])
    .toSorted(([a = ""], [b = ""]) => (a < b ? -1 : 1));
  // Without objects, `JSON.stringify` writes the canonical form.
  const items = JSON.stringify([
    "scrip-ledger-1",
    entry.projectId,
    entry.cardId,
    String(entry.version),
    entry.id,
    entry.type,
    String(entry.points),
    String(entry.balanceAfter),
    entry.totalAfter === null ? null : String(entry.totalAfter),
    entry.cause,
    entry.redemptionId,
    entry.rollbackId,
    entry.rewardId,
    entry.campaignId,
    new Date(entry.at).toISOString(),
    lots,
    entry.source,
    entry.sourceId,
    entry.reason,
    entry.relatedId,
  ]);
  const details = canonicalJson(entry.details === null ? null : JSON.parse(entry.details));
  const previous = previousHash === null ? "null" : `"${hexOf(previousHash)}"`;
  return `${items.slice(0, -1)},${details},${previous}]`;
}

const hexOf = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString("hex");

/** JSON as in RFC 8785: keys sorted by UTF-16 code units, no white space. */
function canonicalJson(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  const members = value as Readonly<Record<string, unknown>>;
  let text = "";
  for (const key of Object.keys(members).toSorted()) {
    const separator = text === "" ? "" : ",";
    text += `${separator}${JSON.stringify(key)}:${canonicalJson(members[key])}`;
  }
  return `{${text}}`;
}

/**
 * Links new entries, in the order of their versions, to the chains of their cards, and returns the cards with the new ends
 * of the chains. All earlier entries of the cards must have hashes.
 */
export function chainEntries(
  cards: ReadonlyMap<string, Card>,
  entries: readonly NewLedgerEntry[],
): { readonly cards: ReadonlyMap<string, Card>; readonly entries: readonly ChainedEntry[] } {
  const after = new Map(cards);
  const chained = entries.map((entry): ChainedEntry => {
    const key = keyOf(entry.projectId, entry.cardId);
    const card = after.get(key);
    if (card === undefined || card.chainedVersion + 1n !== entry.version) {
      throw new Error(`entry ${entry.version} of ${entry.cardId} does not follow its chain`);
    }
    const previousHash = card.ledgerHash;
    const ledgerHash = hashEntry(entry, previousHash);
    after.set(key, { ...card, ledgerHash, chainedVersion: entry.version });
    return { ...entry, previousHash, hash: ledgerHash };
  });
  return { cards: after, entries: chained };
}
