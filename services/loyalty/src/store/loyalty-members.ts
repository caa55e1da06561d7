import {
  batchOf,
  buildStatement,
  column,
  type ColumnTable,
  excludedAssignments,
  type Queryable,
} from "@scrip/postgres";

import { keyOf } from "../domain/key.ts";
import type { LoyaltyMember, MemberCard } from "../domain/loyalty-program.ts";
import { queueChangedSql } from "./changed-customers.ts";

type MemberRow = {
  project_id: string;
  card_id: string;
  campaign_id: string | null;
  customer_id: string;
  initial_points: bigint;
  joined_at: Date;
  /** Null for a card that can always be used. */
  active: boolean | null;
  start_date: Date | null;
  expiration_date: Date | null;
};

const SELECT = `
  select m.project_id, m.card_id, m.campaign_id, m.customer_id, m.initial_points, m.joined_at,
         s.active, s.start_date, s.expiration_date
    from loyalty_member m
    left join card_state s on s.project_id = m.project_id and s.card_id = m.card_id`;

const changeable: ColumnTable<LoyaltyMember> = {
  campaign_id: column.text(({ campaignId }) => campaignId),
  customer_id: column.text(({ customerId }) => customerId),
  initial_points: column.int8(({ initialPoints }) => initialPoints),
  joined_at: column.timestamp(({ joinedAt }) => joinedAt),
};

export async function saveMembers(db: Queryable, members: readonly LoyaltyMember[]): Promise<void> {
  if (members.length > 0) await db.query(saveStatement({ members }));
}

const saveStatement = buildStatement({
  parts: {
    members: batchOf<LoyaltyMember>({
      project_id: column.text(({ projectId }) => projectId),
      card_id: column.text(({ cardId }) => cardId),
      ...changeable,
    }),
  },
  text: ({ members }) => `
    with saved as (
      insert into loyalty_member (${members.columns})
      select ${members.columns} from ${members.rows("item")} order by project_id, card_id
          on conflict (project_id, card_id) do update set ${excludedAssignments(changeable)}
      returning project_id, customer_id)
    ${queueChangedSql("saved", "customer_id")}`,
});

export type CardKey = { readonly projectId: string; readonly cardId: string };

/** Removes the members of deleted cards; their ledgers stay. */
export async function deleteMembers(db: Queryable, cards: readonly CardKey[]): Promise<void> {
  if (cards.length === 0) return;
  await db.query(
    `with deleted as (
       delete from loyalty_member
        where (project_id, card_id) in (select * from unnest($1::text[], $2::text[]))
       returning project_id, customer_id)
     ${queueChangedSql("deleted", "customer_id")}`,
    [cards.map(({ projectId }) => projectId), cards.map(({ cardId }) => cardId)],
  );
}

/** Queues the customers who hold the cards: their points have changed. */
export async function queueHolders(db: Queryable, cards: readonly CardKey[]): Promise<void> {
  if (cards.length === 0) return;
  await db.query(
    `with holders as (
       select project_id, customer_id
         from loyalty_member
        where (project_id, card_id) in (select * from unnest($1::text[], $2::text[])))
     ${queueChangedSql("holders", "customer_id")}`,
    [cards.map(({ projectId }) => projectId), cards.map(({ cardId }) => cardId)],
  );
}

/** The cards that are published. */
export async function findMembers(
  db: Queryable,
  cards: readonly CardKey[],
): Promise<readonly MemberCard[]> {
  if (cards.length === 0) return [];
  const { rows } = await db.query<MemberRow>(
    `${SELECT}
      where (m.project_id, m.card_id) in (select * from unnest($1::text[], $2::text[]))`,
    [cards.map(({ projectId }) => projectId), cards.map(({ cardId }) => cardId)],
  );
  return rows.map(memberFromRow);
}

/** Cards of a program after one of them, in their order. */
export async function findCardsOfProgram(
  db: Queryable,
  {
    projectId,
    campaignId,
    afterCardId,
    limit,
  }: {
    readonly projectId: string;
    readonly campaignId: string;
    readonly afterCardId: string;
    readonly limit: number;
  },
): Promise<readonly CardKey[]> {
  const { rows } = await db.query<{ card_id: string }>(
    `select card_id from loyalty_member where project_id = $1 and campaign_id = $2 and card_id > $3
      order by card_id
      limit $4`,
    [projectId, campaignId, afterCardId, limit],
  );
  return rows.map((row) => ({ projectId, cardId: row.card_id }));
}

/** The cards that customers hold, by `keyOf` of project and customer. */
export async function findMembersOfCustomers(
  db: Queryable,
  customers: readonly { readonly projectId: string; readonly customerId: string }[],
): Promise<ReadonlyMap<string, readonly MemberCard[]>> {
  if (customers.length === 0) return new Map();
  const { rows } = await db.query<MemberRow>(
    `${SELECT}
      where (m.project_id, m.customer_id) in (select * from unnest($1::text[], $2::text[]))
      order by m.project_id, m.card_id`,
    [customers.map(({ projectId }) => projectId), customers.map(({ customerId }) => customerId)],
  );
  return Map.groupBy(rows.map(memberFromRow), ({ projectId, customerId }) =>
    keyOf(projectId, customerId),
  );
}

/** Cards of a customer whose activities are listed. */
const MAX_CARDS = 100;

/** Ids of the latest cards that a customer holds. */
export async function findCardsOf(
  db: Queryable,
  projectId: string,
  customerId: string,
): Promise<readonly string[]> {
  const { rows } = await db.query<{ card_id: string }>(
    `select card_id from loyalty_member
      where project_id = $1 and customer_id = $2
      order by card_id desc limit ${MAX_CARDS}`,
    [projectId, customerId],
  );
  return rows.map(({ card_id: cardId }) => cardId);
}

const memberFromRow = (row: MemberRow): MemberCard => ({
  projectId: row.project_id,
  cardId: row.card_id,
  campaignId: row.campaign_id,
  customerId: row.customer_id,
  initialPoints: row.initial_points,
  joinedAt: row.joined_at.getTime(),
  active: row.active ?? true,
  startDate: row.start_date?.getTime() ?? null,
  expirationDate: row.expiration_date?.getTime() ?? null,
});
