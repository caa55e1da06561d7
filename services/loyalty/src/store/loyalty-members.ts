import {
  batchOf,
  buildStatement,
  column,
  type ColumnTable,
  excludedAssignments,
  type Queryable,
} from "@scrip/postgres";

import { keyOf } from "../domain/key.ts";
import type { LoyaltyMember } from "../domain/loyalty-program.ts";

type MemberRow = {
  project_id: string;
  card_id: string;
  campaign_id: string | null;
  customer_id: string;
  initial_points: bigint;
  joined_at: Date;
};

const COLUMNS = "project_id, card_id, campaign_id, customer_id, initial_points, joined_at";

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
    insert into loyalty_member (${members.columns})
    select ${members.columns} from ${members.rows("item")} order by project_id, card_id
        on conflict (project_id, card_id) do update set ${excludedAssignments(changeable)}`,
});

export type CardKey = { readonly projectId: string; readonly cardId: string };

/** Removes the members of deleted cards; their ledgers stay. */
export async function deleteMembers(db: Queryable, cards: readonly CardKey[]): Promise<void> {
  if (cards.length === 0) return;
  await db.query(
    `delete from loyalty_member
      where (project_id, card_id) in (select * from unnest($1::text[], $2::text[]))`,
    [cards.map(({ projectId }) => projectId), cards.map(({ cardId }) => cardId)],
  );
}

/** The cards that customers hold, by `keyOf` of project and customer. */
export async function findMembersOfCustomers(
  db: Queryable,
  customers: readonly { readonly projectId: string; readonly customerId: string }[],
): Promise<ReadonlyMap<string, readonly LoyaltyMember[]>> {
  if (customers.length === 0) return new Map();
  const { rows } = await db.query<MemberRow>(
    `select ${COLUMNS} from loyalty_member
      where (project_id, customer_id) in (select * from unnest($1::text[], $2::text[]))
      order by project_id, card_id`,
    [customers.map(({ projectId }) => projectId), customers.map(({ customerId }) => customerId)],
  );
  return Map.groupBy(rows.map(memberFromRow), ({ projectId, customerId }) =>
    keyOf(projectId, customerId),
  );
}

const memberFromRow = (row: MemberRow): LoyaltyMember => ({
  projectId: row.project_id,
  cardId: row.card_id,
  campaignId: row.campaign_id,
  customerId: row.customer_id,
  initialPoints: row.initial_points,
  joinedAt: row.joined_at.getTime(),
});
