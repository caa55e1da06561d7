import {
  batchOf,
  buildStatement,
  column,
  int8Array,
  type ProjectQueryable,
  type Queryable,
  textArray,
} from "@scrip/postgres";

import type { LocalDate } from "../domain/local-date.ts";

export type PendingStatus = "PENDING" | "ACTIVATED" | "CANCELED";

/** Points that a card was granted and that become active later. */
export type PendingPoints = {
  readonly projectId: string;
  readonly id: string;
  readonly cardId: string;
  readonly campaignId: string;
  readonly customerId: string;
  readonly orderId: string | null;
  readonly points: bigint;
  readonly status: PendingStatus;
  readonly activatesOn: LocalDate;
  readonly cause: string;
  readonly ruleId: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly createdAt: number;
};

export type PendingRow = {
  project_id: string;
  id: string;
  card_id: string;
  campaign_id: string;
  customer_id: string;
  order_id: string | null;
  points: bigint;
  status: PendingStatus;
  activates_on: string;
  cause: string;
  rule_id: string;
  details: Readonly<Record<string, unknown>>;
  created_at: Date;
};

export const COLUMNS = `project_id, id, card_id, campaign_id, customer_id, order_id, points, status,
  activates_on::text, cause, rule_id, details, created_at`;

export const fromRow = (row: PendingRow): PendingPoints => ({
  projectId: row.project_id,
  id: row.id,
  cardId: row.card_id,
  campaignId: row.campaign_id,
  customerId: row.customer_id,
  orderId: row.order_id,
  points: row.points,
  status: row.status,
  activatesOn: row.activates_on,
  cause: row.cause,
  ruleId: row.rule_id,
  details: row.details,
  createdAt: row.created_at.getTime(),
});

const insertStatement = buildStatement({
  parts: {
    entries: batchOf<PendingPoints>({
      project_id: column.text(({ projectId }) => projectId),
      id: column.text(({ id }) => id),
      card_id: column.text(({ cardId }) => cardId),
      campaign_id: column.text(({ campaignId }) => campaignId),
      customer_id: column.text(({ customerId }) => customerId),
      order_id: column.text(({ orderId }) => orderId),
      points: column.int8(({ points }) => points),
      activates_on: column.date(({ activatesOn }) => activatesOn),
      cause: column.text(({ cause }) => cause),
      rule_id: column.text(({ ruleId }) => ruleId),
      details: column.json(({ details }) => JSON.stringify(details)),
      created_at: column.timestamp(({ createdAt }) => createdAt),
    }),
  },
  text: ({ entries }) => `
    insert into pending_points (${entries.columns})
    select ${entries.columns} from ${entries.rows("item")}
        on conflict (project_id, card_id, cause) do nothing
    returning ${COLUMNS}`,
});

/** Inserts entries whose cause has none yet, and returns those. The cards must be locked. */
export async function insertPendingPoints(
  tx: Queryable,
  entries: readonly PendingPoints[],
): Promise<readonly PendingPoints[]> {
  if (entries.length === 0) return [];
  const { rows } = await tx.query<PendingRow>(insertStatement({ entries }));
  return rows.map(fromRow);
}

/** Which of the causes have granted pending points, whatever became of them: `project card cause`. */
export async function findPendingCauses(
  tx: Queryable,
  causes: readonly {
    readonly projectId: string;
    readonly cardId: string;
    readonly cause: string;
  }[],
): Promise<
  readonly { readonly projectId: string; readonly cardId: string; readonly cause: string }[]
> {
  if (causes.length === 0) return [];
  const { rows } = await tx.query<{ project_id: string; card_id: string; cause: string }>(
    `select project_id, card_id, cause from pending_points
      where (project_id, card_id, cause) in (select * from unnest($1::text[], $2::text[], $3::text[]))`,
    [
      textArray(causes.map(({ projectId }) => projectId)),
      textArray(causes.map(({ cardId }) => cardId)),
      textArray(causes.map(({ cause }) => cause)),
    ],
  );
  return rows.map((row) => ({ projectId: row.project_id, cardId: row.card_id, cause: row.cause }));
}

export async function findPendingPoints(
  db: Queryable,
  projectId: string,
  id: string,
): Promise<PendingPoints | undefined> {
  const { rows } = await db.query<PendingRow>(
    `select ${COLUMNS} from pending_points where project_id = $1 and id = $2`,
    [projectId, id],
  );
  return rows[0] && fromRow(rows[0]);
}

/** Entries of these orders that are still pending, oldest first. */
export async function findPendingOfOrders(
  tx: Queryable,
  orders: readonly { readonly projectId: string; readonly orderId: string }[],
): Promise<readonly PendingPoints[]> {
  if (orders.length === 0) return [];
  const { rows } = await tx.query<PendingRow>(
    `select ${COLUMNS} from pending_points
      where (project_id, order_id) in (select * from unnest($1::text[], $2::text[]))
        and status = 'PENDING'
      order by id`,
    [
      textArray(orders.map(({ projectId }) => projectId)),
      textArray(orders.map(({ orderId }) => orderId)),
    ],
  );
  return rows.map(fromRow);
}

/** Stores the states of changed entries, whose cards are locked. */
export async function updatePendingPoints(
  tx: Queryable,
  changes: readonly { readonly entry: PendingPoints; readonly at: number }[],
): Promise<void> {
  await tx.query(
    `update pending_points p
        set points = item.points, status = item.status, updated_at = to_timestamp(item.at / 1000.0),
            changes = p.changes || jsonb_build_object('at', item.at, 'points',
              case when item.status = 'PENDING' then item.points else 0 end
              - case when p.status = 'PENDING' then p.points else 0 end)
       from unnest($1::text[], $2::text[], $3::int8[], $4::text[], $5::int8[])
              as item (project_id, id, points, status, at)
      where p.project_id = item.project_id and p.id = item.id`,
    [
      textArray(changes.map(({ entry }) => entry.projectId)),
      textArray(changes.map(({ entry }) => entry.id)),
      int8Array(changes.map(({ entry }) => entry.points)),
      textArray(changes.map(({ entry }) => entry.status)),
      int8Array(changes.map(({ at }) => BigInt(at))),
    ],
  );
}

export type PendingPointsListing = {
  readonly projectId: string;
  /** Of a card, or of all cards of a program. */
  readonly cardId: string | null;
  readonly campaignId: string | null;
  readonly conditions: readonly string[];
  /** The project, the card and the program, and the values of the conditions. */
  readonly values: readonly unknown[];
  readonly limit: number;
  readonly descending: boolean;
  readonly afterId: string | null;
};

/** Before and after all ids in every collation. */
const FIRST = "";
const LAST = "zzzz";

/** A page of entries that are still pending; ids sort by creation. */
export async function listPendingPoints(
  db: ProjectQueryable,
  {
    projectId,
    cardId,
    campaignId,
    conditions,
    values,
    limit,
    descending,
    afterId,
  }: PendingPointsListing,
): Promise<readonly PendingPoints[]> {
  const owner = [
    cardId === null ? "$2::text is null" : "card_id = $2",
    campaignId === null ? "$3::text is null" : "campaign_id = $3",
  ];
  const { rows } = await db.inProject(projectId).query<PendingRow>(
    `select ${COLUMNS} from pending_points
      where project_id = $1 and ${owner.join(" and ")} and status = 'PENDING'
        and id ${descending ? "<" : ">"} $${values.length + 1}
        and ${["true", ...conditions].join(" and ")}
      order by id ${descending ? "desc" : "asc"}
      limit $${values.length + 2}`,
    [...values, afterId ?? (descending ? LAST : FIRST), limit],
  );
  return rows.map(fromRow);
}
