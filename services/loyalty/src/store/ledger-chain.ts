import { batchOf, buildStatement, column, type Queryable } from "@scrip/postgres";

import type { LedgerEntryType } from "../domain/card.ts";
import type { HashedEntry } from "../ledger/chain-entries.ts";

type StoredEntryRow = {
  version: bigint;
  id: string;
  type: LedgerEntryType;
  points: bigint;
  balance_after: bigint;
  total_after: bigint | null;
  cause: string;
  redemption_id: string | null;
  rollback_id: string | null;
  reward_id: string | null;
  campaign_id: string | null;
  created_at: Date;
  lots: Readonly<Record<string, number>> | null;
  source: string | null;
  source_id: string | null;
  reason: string | null;
  related_id: string | null;
  details: Readonly<Record<string, unknown>> | null;
};

type CardName = { readonly projectId: string; readonly id: string };

/** Entries of a card after one version and until another, in their order. */
export async function findEntriesToChain(
  tx: Queryable,
  { projectId, id: cardId }: CardName,
  {
    after,
    until,
    limit,
  }: { readonly after: bigint; readonly until: bigint; readonly limit: number },
): Promise<readonly HashedEntry[]> {
  const { rows } = await tx.query<StoredEntryRow>(
    `select version, id, type, points, balance_after, total_after, cause, redemption_id, rollback_id,
            reward_id, campaign_id, created_at, lots, source, source_id, reason, related_id, details
       from ledger_entry
      where project_id = $1 and card_id = $2 and version > $3 and version <= $4
      order by version
      limit $5`,
    [projectId, cardId, after, until, limit],
  );
  return rows.map((row) => ({
    projectId,
    cardId,
    campaignId: row.campaign_id,
    version: row.version,
    id: row.id,
    type: row.type,
    points: row.points,
    balanceAfter: row.balance_after,
    totalAfter: row.total_after,
    lots: Object.entries(row.lots ?? {}).map(([expiresOn, points]) => ({
      expiresOn,
      points: BigInt(points),
    })),
    cause: row.cause,
    redemptionId: row.redemption_id,
    rollbackId: row.rollback_id,
    rewardId: row.reward_id,
    source: row.source,
    sourceId: row.source_id,
    reason: row.reason,
    relatedId: row.related_id,
    details: row.details === null ? null : JSON.stringify(row.details),
    at: row.created_at.getTime(),
  }));
}

type EntryLink = Pick<HashedEntry, "projectId" | "cardId" | "version"> & {
  readonly previousHash: Uint8Array | null;
  readonly hash: Uint8Array;
};

const saveHashesStatement = buildStatement({
  parts: {
    links: batchOf<EntryLink>({
      project_id: column.text(({ projectId }) => projectId),
      card_id: column.text(({ cardId }) => cardId),
      version: column.int8(({ version }) => version),
      previous_hash: column.bytea(({ previousHash }) => previousHash),
      hash: column.bytea(({ hash }) => hash),
    }),
  },
  text: ({ links }) => `
    update ledger_entry e set previous_hash = item.previous_hash, hash = item.hash
      from ${links.rows("item")}
     where e.project_id = item.project_id and e.card_id = item.card_id and e.version = item.version`,
});

/** Sets the hashes of entries that have none; the database rejects any other update. */
export async function saveHashes(tx: Queryable, links: readonly EntryLink[]): Promise<void> {
  if (links.length > 0) await tx.query(saveHashesStatement({ links }));
}

export type CardPosition = { readonly projectId: string; readonly id: string };

/** The next cards in key order, and which of them have entries without a hash. */
export async function findUnchainedCards(
  db: Queryable,
  after: CardPosition,
  limit: number,
): Promise<{ readonly last: CardPosition | null; readonly unchained: readonly CardPosition[] }> {
  const { rows } = await db.query<{ project_id: string; id: string; unchained: boolean }>(
    `select project_id, id, chained_version < ledger_version as unchained from loyalty_card
      where (project_id, id) > ($1, $2)
      order by project_id, id
      limit $3`,
    [after.projectId, after.id, limit],
  );
  const cards = rows.map((row) => ({ projectId: row.project_id, id: row.id }));
  return {
    last: rows.length < limit ? null : (cards.at(-1) ?? null),
    unchained: cards.filter((_, index) => rows[index]?.unchained),
  };
}
