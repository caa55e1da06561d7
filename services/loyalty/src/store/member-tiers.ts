import {
  assignmentsFrom,
  batchOf,
  buildStatement,
  column,
  type ColumnTable,
  int8Array,
  type Queryable,
  textArray,
} from "@scrip/postgres";

import { keyOf } from "../domain/key.ts";
import type { LocalDate } from "../domain/local-date.ts";
import { dueDate, type TierState } from "../domain/tiers/follow-ledger.ts";
import type { CardKey } from "./loyalty-members.ts";

type MemberTierRow = {
  project_id: string;
  card_id: string;
  campaign_id: string;
  customer_id: string;
  tier_id: string | null;
  start_date: string | null;
  expiration_date: string | null;
  next_tier_id: string | null;
  next_start: string | null;
  period_start: string | null;
  period_points: bigint;
  balance: bigint;
  ledger_version: bigint;
  created_at: Date;
  updated_at: Date | null;
};

const changeable: ColumnTable<TierState> = {
  customer_id: column.text(({ customerId }) => customerId),
  tier_id: column.text(({ tierId }) => tierId),
  start_date: column.date(({ startDate }) => startDate),
  expiration_date: column.date(({ expirationDate }) => expirationDate),
  next_tier_id: column.text(({ nextTierId }) => nextTierId),
  next_start: column.date(({ nextStart }) => nextStart),
  period_start: column.date(({ periodStart }) => periodStart),
  period_points: column.int8(({ periodPoints }) => periodPoints),
  balance: column.int8(({ balance }) => balance),
  ledger_version: column.int8(({ ledgerVersion }) => ledgerVersion),
  due_on: column.date((state) => dueDate(state)),
  updated_at: column.timestamp(({ updatedAt }) => updatedAt),
};

const key: ColumnTable<TierState> = {
  project_id: column.text(({ projectId }) => projectId),
  card_id: column.text(({ cardId }) => cardId),
};

const COLUMNS = `project_id, card_id, campaign_id, customer_id, tier_id, start_date, expiration_date, next_tier_id, next_start,
  period_start, period_points, balance, ledger_version, created_at, updated_at`;

/** Inserts the states of cards that have none, in key order. */
export async function openMemberTiers(tx: Queryable, states: readonly TierState[]): Promise<void> {
  if (states.length > 0) await tx.query(insertStatement({ states }));
}

const insertStatement = buildStatement({
  parts: {
    states: batchOf<TierState>({
      ...key,
      campaign_id: column.text(({ campaignId }) => campaignId),
      ...changeable,
      created_at: column.timestamp(({ createdAt }) => createdAt),
    }),
  },
  text: ({ states }) => `
    insert into member_tier (${states.columns})
    select ${states.columns} from ${states.rows("item")} order by project_id, card_id
        on conflict do nothing`,
});

/** The states must be locked. */
export async function saveMemberTiers(tx: Queryable, states: readonly TierState[]): Promise<void> {
  if (states.length > 0) await tx.query(saveStatement({ states }));
}

const saveStatement = buildStatement({
  parts: { states: batchOf<TierState>({ ...key, ...changeable }) },
  text: ({ states }) => `
    update member_tier m
       set ${assignmentsFrom(changeable, "item")}
      from ${states.rows("item")}
     where m.project_id = item.project_id and m.card_id = item.card_id`,
});

/** The states of the cards that have one, by `keyOf` of project and card. */
export const findMemberTiers = (
  db: Queryable,
  cards: readonly CardKey[],
): Promise<ReadonlyMap<string, TierState>> => select(db, cards, "");

/** Locks the states until the transaction ends, in key order. */
export const lockMemberTiers = (
  tx: Queryable,
  cards: readonly CardKey[],
): Promise<ReadonlyMap<string, TierState>> => select(tx, cards, "for no key update");

async function select(
  db: Queryable,
  cards: readonly CardKey[],
  lock: string,
): Promise<ReadonlyMap<string, TierState>> {
  if (cards.length === 0) return new Map();
  const { rows } = await db.query<MemberTierRow>(
    `select ${COLUMNS} from member_tier
      where (project_id, card_id) in (select * from unnest($1::text[], $2::text[]))
      order by project_id, card_id
      ${lock}`,
    [
      textArray(cards.map(({ projectId }) => projectId)),
      textArray(cards.map(({ cardId }) => cardId)),
    ],
  );
  return new Map(rows.map((row) => [keyOf(row.project_id, row.card_id), stateFromRow(row)]));
}

export async function deleteMemberTiers(db: Queryable, cards: readonly CardKey[]): Promise<void> {
  if (cards.length === 0) return;
  await db.query(
    "delete from member_tier where (project_id, card_id) in (select * from unnest($1::text[], $2::text[]))",
    [
      textArray(cards.map(({ projectId }) => projectId)),
      textArray(cards.map(({ cardId }) => cardId)),
    ],
  );
}

export type FollowedEntry = CardKey & {
  readonly version: bigint;
  readonly type: string;
  readonly points: bigint;
  readonly balanceAfter: bigint;
  /** Whether a night, and not a request, activated pending points. */
  readonly nightly: boolean;
  readonly at: number;
};

/** Entries of cards after the versions that their states have, by card and version; at most `limit`. */
export async function findEntriesAfter(
  db: Queryable,
  states: readonly TierState[],
  limit: number,
): Promise<readonly FollowedEntry[]> {
  const { rows } = await db.query<{
    project_id: string;
    card_id: string;
    version: bigint;
    type: string;
    points: bigint;
    balance_after: bigint;
    nightly: boolean;
    created_at: Date;
  }>(
    `select l.project_id, l.card_id, l.version, l.type, l.points, l.balance_after, l.created_at,
            l.type = 'PENDING_POINTS_ACTIVATION' and l.source is not null as nightly
       from unnest($1::text[], $2::text[], $3::int8[]) as item (project_id, card_id, version)
       join ledger_entry l
         on l.project_id = item.project_id and l.card_id = item.card_id and l.version > item.version
      order by l.project_id, l.card_id, l.version
      limit $4`,
    [
      textArray(states.map(({ projectId }) => projectId)),
      textArray(states.map(({ cardId }) => cardId)),
      int8Array(states.map(({ ledgerVersion }) => ledgerVersion)),
      limit,
    ],
  );
  return rows.map((row) => ({
    projectId: row.project_id,
    cardId: row.card_id,
    version: row.version,
    type: row.type,
    points: row.points,
    balanceAfter: row.balance_after,
    nightly: row.nightly,
    at: row.created_at.getTime(),
  }));
}

/** The first entries of cards that joined at a time and follow an id, by `keyOf` of project and card. */
export async function findFirstEntries(
  db: Queryable,
  cards: readonly (CardKey & { readonly joinedAt: number; readonly afterId: string })[],
): Promise<ReadonlyMap<string, { readonly version: bigint; readonly balanceBefore: bigint }>> {
  const { rows } = await db.query<{
    project_id: string;
    card_id: string;
    version: bigint;
    balance_before: bigint;
  }>(
    `select l.project_id, l.card_id, l.version, l.balance_after - l.points as balance_before
       from unnest($1::text[], $2::text[], $3::timestamptz[], $4::text[])
              as item (project_id, card_id, joined_at, after_id)
      cross join lateral (
              select *
                from ledger_entry e
               where e.project_id = item.project_id and e.card_id = item.card_id
                 and e.created_at >= item.joined_at and e.id collate "C" > item.after_id
               order by e.version
               limit 1) l`,
    [
      textArray(cards.map(({ projectId }) => projectId)),
      textArray(cards.map(({ cardId }) => cardId)),
      cards.map(({ joinedAt }) => new Date(joinedAt)),
      textArray(cards.map(({ afterId }) => afterId)),
    ],
  );
  return new Map(
    rows.map((row) => [
      keyOf(row.project_id, row.card_id),
      { version: row.version, balanceBefore: row.balance_before },
    ]),
  );
}

/** Points of entries up to a version of the ledger and since a time, of the types that count in a period. */
export async function sumPeriodPoints(
  db: Queryable,
  cards: readonly (CardKey & { readonly version: bigint; readonly since: number })[],
): Promise<ReadonlyMap<string, bigint>> {
  if (cards.length === 0) return new Map();
  const { rows } = await db.query<{ project_id: string; card_id: string; points: bigint }>(
    `select l.project_id, l.card_id, sum(l.points)::int8 as points
       from unnest($1::text[], $2::text[], $3::int8[], $4::timestamptz[])
              as item (project_id, card_id, version, since)
       join ledger_entry l on l.project_id = item.project_id and l.card_id = item.card_id
      where l.version <= item.version and l.created_at >= item.since
        and l.type in ('POINTS_ACCRUAL', 'PENDING_POINTS_ACTIVATION', 'POINTS_ADDITION')
      group by l.project_id, l.card_id`,
    [
      textArray(cards.map(({ projectId }) => projectId)),
      textArray(cards.map(({ cardId }) => cardId)),
      int8Array(cards.map(({ version }) => version)),
      cards.map(({ since }) => new Date(since)),
    ],
  );
  return new Map(rows.map((row) => [keyOf(row.project_id, row.card_id), row.points]));
}

/** The earliest date in this range on which tiers of a project change by themselves; null without one. */
export async function findNextTierDate(
  db: Queryable,
  projectId: string,
  { after, until }: { readonly after: LocalDate | null; readonly until: LocalDate },
): Promise<LocalDate | null> {
  const { rows } = await db.query<{ date: LocalDate | null }>(
    `select min(due_on) as date from member_tier
      where project_id = $1 and due_on <= $2::date and ($3::date is null or due_on > $3::date)`,
    [projectId, until, after],
  );
  return rows[0]?.date ?? null;
}

/** Cards whose tier changes by itself on this date or before, in their order. */
export async function findCardsWithDueTier(
  db: Queryable,
  {
    projectId,
    date,
    after,
    limit,
  }: {
    readonly projectId: string;
    readonly date: LocalDate;
    readonly after: string;
    readonly limit: number;
  },
): Promise<readonly string[]> {
  const { rows } = await db.query<{ card_id: string }>(
    `select card_id from member_tier where project_id = $1 and due_on <= $2::date and card_id > $3
      order by card_id
      limit $4`,
    [projectId, date, after, limit],
  );
  return rows.map(({ card_id: cardId }) => cardId);
}

const stateFromRow = (row: MemberTierRow): TierState => ({
  projectId: row.project_id,
  cardId: row.card_id,
  campaignId: row.campaign_id,
  customerId: row.customer_id,
  tierId: row.tier_id,
  startDate: row.start_date,
  expirationDate: row.expiration_date,
  nextTierId: row.next_tier_id,
  nextStart: row.next_start,
  periodStart: row.period_start,
  periodPoints: row.period_points,
  balance: row.balance,
  heldPoints: 0n,
  ledgerVersion: row.ledger_version,
  createdAt: row.created_at.getTime(),
  updatedAt: row.updated_at && row.updated_at.getTime(),
});
