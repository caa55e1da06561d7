import {
  type CursorTimestamp,
  orderByTime,
  type ProjectQueryable,
  type Queryable,
  readTimePage,
} from "@scrip/postgres";

import {
  CUSTOMER_FIELDS,
  type CustomerCounts,
  type CustomerField,
  type CustomerProfile,
} from "../domain/customer.ts";
import { ORDERS_AMOUNT } from "./order-sums.ts";

type ProfileRow = Readonly<Record<CustomerField, string | null>> & {
  readonly project_id: string;
  readonly id: string;
  readonly source_id: string | null;
  readonly metadata: Record<string, unknown>;
  readonly created_at: Date;
  readonly updated_at: Date | null;
  readonly redemptions: bigint;
  readonly gift_amount: bigint;
  readonly failed: bigint;
  readonly rolled_back: bigint;
  readonly rollbacks_refused: bigint;
  readonly orders: bigint;
  readonly orders_amount: bigint;
  readonly last_amount: bigint | null;
  readonly last_at: Date | null;
};

/** Birth dates are read as text: a `Date` would have a time zone. */
const FIELDS = CUSTOMER_FIELDS.map((field) =>
  field === "birthdate" ? "c.birthdate::text as birthdate" : `c.${field}`,
).join(", ");

/** Profiles of the customers that `page`, a query over `customer`, returns. */
const profilesSql = (page: string): string =>
  `select c.project_id, c.id, c.source_id, ${FIELDS}, c.metadata, c.created_at, c.updated_at,
          coalesce(r.succeeded, 0) as redemptions, coalesce(r.gift_amount, 0) as gift_amount,
          coalesce(r.failed, 0) as failed, coalesce(r.rolled_back, 0) as rolled_back,
          coalesce(r.rollbacks_refused, 0) as rollbacks_refused,
          o.orders, o.orders_amount, l.amount as last_amount, l.changed_at as last_at
     from (${page}) c
     left join customer_redemptions r on r.project_id = c.project_id and r.customer_id = c.id
    cross join lateral
          (select count(*) as orders, ${ORDERS_AMOUNT} as orders_amount
             from customer_order
            where project_id = c.project_id and customer_id = c.id and paid) o
     left join lateral
          (select amount, changed_at
             from customer_order
            where project_id = c.project_id and customer_id = c.id and paid
            order by changed_at desc, order_id desc
            limit 1) l on true`;

/** Finds by id or else by source id. */
const byIdOrSourceIdSql = (columns: string): string =>
  `select ${columns}
     from customer
    where project_id = $1 and (id = $2 or source_id = $2)
    order by id = $2 desc
    limit 1`;

export async function findProfile(
  db: Queryable,
  projectId: string,
  idOrSourceId: string,
): Promise<CustomerProfile | undefined> {
  const { rows } = await db.query<ProfileRow>(profilesSql(byIdOrSourceIdSql("*")), [
    projectId,
    idOrSourceId,
  ]);
  return rows[0] && profileFromRow(rows[0]);
}

/**
 * Returns the profiles of the customers that exist, of any projects. Not a named statement: a session would
 * keep a plan that was cached while the tables were small and scans all of them.
 */
export async function findProfiles(
  db: Queryable,
  customers: readonly { readonly projectId: string; readonly id: string }[],
): Promise<readonly { readonly projectId: string; readonly profile: CustomerProfile }[]> {
  if (customers.length === 0) return [];
  const { rows } = await db.query<ProfileRow>(
    profilesSql(
      `select * from customer
        where (project_id, id) in (select * from unnest($1::text[], $2::text[]))`,
    ),
    [customers.map(({ projectId }) => projectId), customers.map(({ id }) => id)],
  );
  return rows.map((row) => ({ projectId: row.project_id, profile: profileFromRow(row) }));
}

export async function findCustomerId(
  db: Queryable,
  projectId: string,
  idOrSourceId: string,
): Promise<string | undefined> {
  const { rows } = await db.query<{ id: string }>(byIdOrSourceIdSql("id"), [
    projectId,
    idOrSourceId,
  ]);
  return rows[0]?.id;
}

export type CustomerSortOrder = {
  readonly by: "created_at" | "updated_at" | "source_id";
  readonly descending: boolean;
};

export type CustomerListing = {
  readonly projectId: string;
  /** SQL over `customer`, joined by `and`. */
  readonly conditions: readonly string[];
  /** Parameters of the conditions; the first is the project id. */
  readonly values: readonly unknown[];
  readonly order: CustomerSortOrder;
  readonly startingAfter: Pick<CursorTimestamp, "seconds" | "nanos"> | undefined;
  readonly page: { readonly limit: number; readonly offset: number };
};

/**
 * One page of customers, the cursor of the next one, and the number of customers on all pages. Ties are broken by
 * id.
 */
export async function listProfiles(
  db: ProjectQueryable,
  { projectId, conditions, values, order, startingAfter, page }: CustomerListing,
): Promise<{
  readonly customers: readonly CustomerProfile[];
  readonly total: bigint;
  readonly hasMore: boolean;
  readonly moreStartingAfter: CursorTimestamp | undefined;
}> {
  const { by, descending } = order;
  const sorting = (table: string) => ({
    column: `${table}${by}`,
    id: `${table}id`,
    descending,
    // A customer without changes has no updated_at, and one without a source id has none.
    nullable: by !== "created_at",
  });
  const { rows, ...rest } = await readTimePage<ProfileRow>(db.inProject(projectId), {
    from: `from customer where ${["project_id = $1", ...conditions].join(" and ")}`,
    values,
    order: sorting(""),
    timeOf: by === "source_id" ? null : (row) => row[by],
    startingAfter,
    ...page,
    select: (rowsOfPage) =>
      `${profilesSql(`select * ${rowsOfPage}`)} order by ${orderByTime(sorting("c."))}`,
  });
  return { customers: rows.map((row) => profileFromRow(row)), ...rest };
}

function profileFromRow(row: ProfileRow): CustomerProfile {
  const { source_id, created_at, updated_at } = row;
  const fields = Object.fromEntries(CUSTOMER_FIELDS.map((field) => [field, row[field]])) as Record<
    CustomerField,
    string | null
  >;
  return {
    ...fields,
    id: row.id,
    sourceId: source_id,
    metadata: row.metadata,
    createdAt: created_at,
    updatedAt: updated_at,
    summary: countsFromRow(row),
  };
}

function countsFromRow(row: ProfileRow): CustomerCounts {
  return {
    redemptions: row.redemptions,
    giftAmount: row.gift_amount,
    failed: row.failed,
    rolledBack: row.rolled_back,
    rollbacksRejected: row.rollbacks_refused,
    orders: row.orders,
    ordersAmount: row.orders_amount,
    lastOrder:
      row.last_amount === null || row.last_at === null
        ? null
        : { amount: row.last_amount, at: row.last_at },
  };
}
