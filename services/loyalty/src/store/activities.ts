import {
  batchOf,
  buildStatement,
  column,
  type PartitionedTable,
  type Queryable,
} from "@scrip/postgres";

const DAY_MS = 24 * 3_600_000;

/** Few partitions, because a list looks into each. Rows are retained for 90 days, at most a week longer. */
export const ACTIVITY_TABLE: PartitionedTable = {
  table: "activity",
  column: "occurred_at",
  everyMs: 7 * DAY_MS,
  keepMs: 90 * DAY_MS,
};

export type Activity = {
  readonly projectId: string;
  /** Null: the customer who holds the card, which the reader finds out. */
  readonly customerId: string | null;
  readonly id: string;
  readonly type: string;
  readonly cardId: string | null;
  readonly groupId: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly createdAt: number;
  readonly occurredAt: number;
};

/** Stores activities of cards, and of customers that exist; repetitions change nothing. */
export async function insertActivities(
  db: Queryable,
  activities: readonly Activity[],
): Promise<void> {
  if (activities.length > 0) await db.query(insertStatement({ activities }));
}

const insertStatement = buildStatement({
  planning: "indexLookups",
  parts: {
    activities: batchOf<Activity>({
      project_id: column.text(({ projectId }) => projectId),
      customer_id: column.text(({ customerId }) => customerId),
      id: column.text(({ id }) => id),
      type: column.text(({ type }) => type),
      card_id: column.text(({ cardId }) => cardId),
      group_id: column.text(({ groupId }) => groupId),
      data: column.json(({ data }) => JSON.stringify(data)),
      created_at: column.timestamp(({ createdAt }) => createdAt),
      occurred_at: column.timestamp(({ occurredAt }) => occurredAt),
    }),
  },
  text: ({ activities }) => `
    insert into activity (project_id, owner_id, id, type, card_id, group_id, data, created_at, occurred_at)
    select project_id, coalesce(customer_id, card_id), id, type, card_id, group_id, data, created_at, occurred_at
      from ${activities.rows("item")}
     where customer_id is null
        or exists (select from customer where project_id = item.project_id and id = item.customer_id)
        on conflict do nothing`,
});

export type ActivityListing = {
  readonly projectId: string;
  /** A customer and their cards. */
  readonly owners: readonly string[];
  readonly conditions: readonly string[];
  /** Of `conditions`, whose parameters begin at $3. */
  readonly values: readonly unknown[];
  readonly afterId: string | undefined;
  readonly descending: boolean;
  readonly limit: number;
};

export type StoredActivity = Pick<Activity, "id" | "type" | "groupId" | "data"> & {
  readonly createdAt: Date;
};

type Row = {
  readonly id: string;
  readonly type: string;
  readonly group_id: string;
  readonly data: Record<string, unknown>;
  readonly created_at: Date;
};

export async function listActivities(
  db: Queryable,
  { projectId, owners, conditions, values, afterId, descending, limit }: ActivityListing,
): Promise<readonly StoredActivity[]> {
  const parameters: unknown[] = [projectId, owners, ...values];
  const after =
    afterId === undefined ? [] : [`id ${descending ? "<" : ">"} $${parameters.push(afterId)}`];
  const page = `order by id ${descending ? "desc" : "asc"} limit $${parameters.push(limit)}`;
  const { rows } = await db.query<Row>(
    `select found.*
       from unnest($2::text[]) as owner (id)
      cross join lateral (
              select id, type, group_id, data, created_at
                from activity
               where project_id = $1 and owner_id = owner.id
                 and ${["true", ...after, ...conditions].join(" and ")}
               ${page}) as found
      ${page}`,
    parameters,
  );
  return rows.map(({ id, type, group_id: groupId, data, created_at: createdAt }) => ({
    id,
    type,
    groupId,
    data,
    createdAt,
  }));
}

export async function deleteActivities(
  db: Queryable,
  projectId: string,
  customerId: string,
): Promise<void> {
  await db.query("delete from activity where project_id = $1 and owner_id = $2", [
    projectId,
    customerId,
  ]);
}
