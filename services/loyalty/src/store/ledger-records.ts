import { listProjectsIn, type Queryable } from "@scrip/postgres";

import type { CardRecord, EntryRecord, LedgerRecord } from "../ledger/ledger-records.ts";

const CARDS = 200;
const ENTRIES = 1_000;

const CARD_RECORD = `
  c.project_id, c.id, c.points::text, c.redeemed_points::text, c.subtracted_points::text,
  c.expired_points::text, c.balance::text, c.pending_points::text, c.ledger_version::text,
  encode(c.ledger_hash, 'hex') as ledger_hash, c.next_expires_on::text, c.next_expiring_points::text,
  (select coalesce(sum(e.points), 0)::text from pending_points e
    where e.project_id = c.project_id and e.card_id = c.id and e.status = 'PENDING') as pending_entries,
  (select coalesce(jsonb_object_agg(l.expires_on, l.points::text), '{}') from points_lot l
    where l.project_id = c.project_id and l.card_id = c.id and not l.expired and l.points > 0) as lots`;

const ENTRY_RECORD = `
  project_id, card_id, version::text, id, type, points::text, balance_after::text, total_after::text, cause,
  redemption_id, rollback_id, reward_id, campaign_id, lots, source, source_id, reason, related_id, details,
  to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as created_at,
  encode(previous_hash, 'hex') as previous_hash, encode(hash, 'hex') as hash`;

/**
 * Reads the ledger of a project, or of one card, in chunks of bounded size. A chunk of cards and their entries is one snapshot:
 * concurrent changes do not appear as faults. Needs a connection of its own, without a transaction.
 */
export async function* readLedger(
  connection: Queryable,
  { projectId, cardId = null }: { readonly projectId: string; readonly cardId?: string | null },
): AsyncGenerator<LedgerRecord> {
  for (let after: string | null = ""; after !== null;) {
    await connection.query("begin isolation level repeatable read read only");
    try {
      const cards: readonly CardRecord[] = await findCards(connection, {
        projectId,
        cardId,
        after,
      });
      // The last chunk also has the entries of cards that do not exist.
      const last: string | null = cards.length < CARDS ? null : (cards.at(-1)?.id ?? null);
      const entries = readEntries(connection, { projectId, cardId, after, last });
      yield* interleave(cards, entries);
      after = last;
    } finally {
      await connection.query("commit");
    }
  }
}

/** Cards with their entries; both are sorted by the database, whose collation is not that of this process. */
async function* interleave(
  cards: readonly CardRecord[],
  entries: AsyncIterable<EntryRecord>,
): AsyncGenerator<LedgerRecord> {
  const positions = new Map(cards.map(({ id }, index) => [id, index]));
  let next = 0;
  for await (const entry of entries) {
    const position = positions.get(entry.card_id) ?? -1;
    for (; next <= position; next += 1) {
      const card = cards[next];
      if (card !== undefined) yield { record: "card", ...card };
    }
    yield { record: "entry", ...entry };
  }
  for (const card of cards.slice(next)) yield { record: "card", ...card };
}

type Range = {
  readonly projectId: string;
  readonly cardId: string | null;
  readonly after: string;
};

async function findCards(
  db: Queryable,
  { projectId, cardId, after }: Range,
): Promise<readonly CardRecord[]> {
  const { rows } = await db.query<CardRecord>(
    `select ${CARD_RECORD} from loyalty_card c
      where c.project_id = $1 and c.id > $2 and ($3::text is null or c.id = $3)
      order by c.id
      limit $4`,
    [projectId, after, cardId, CARDS],
  );
  return rows;
}

async function* readEntries(
  db: Queryable,
  { projectId, cardId, after, last }: Range & { readonly last: string | null },
): AsyncGenerator<EntryRecord> {
  let position: readonly [card: string, version: string] =
    cardId === null ? [after, "9223372036854775807"] : [cardId, "0"];
  for (;;) {
    const { rows }: { readonly rows: readonly EntryRecord[] } = await db.query<EntryRecord>(
      `select ${ENTRY_RECORD} from ledger_entry
        where project_id = $1 and (card_id, version) > ($2, $3::int8)
          and ($4::text is null or card_id <= $4)
        order by card_id, ledger_entry.version
        limit $5`,
      [projectId, ...position, cardId ?? last, ENTRIES],
    );
    yield* rows;
    const end = rows.at(-1);
    if (end === undefined || rows.length < ENTRIES) return;
    position = [end.card_id, end.version];
  }
}

/** All projects with cards or entries, also those that the gateway has deleted. */
export async function listLedgerProjects(db: Queryable): Promise<readonly string[]> {
  const ofCards = await listProjectsIn(db, "loyalty_card");
  return [...new Set([...ofCards, ...(await listProjectsIn(db, "ledger_entry"))])].toSorted();
}
