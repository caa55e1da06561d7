import type { Queryable } from "@scrip/postgres";

import {
  type Customer,
  CUSTOMER_FIELDS,
  type CustomerChange,
  type CustomerKey,
} from "../domain/customer.ts";

type CustomerRow = {
  project_id: string;
  id: string;
  source_id: string | null;
  name: string | null;
  email: string | null;
  birthdate: string | null;
  metadata: Record<string, unknown>;
};

export type FoundCustomer = Customer & { readonly projectId: string };

export async function findCustomersBy(
  db: Queryable,
  column: CustomerKey["column"],
  keys: readonly CustomerKey[],
): Promise<FoundCustomer[]> {
  if (keys.length === 0) return [];
  const { rows } = await db.query<CustomerRow>(
    `select project_id, id, source_id, name, email, birthdate::text, metadata
       from customer
      where (project_id, ${column}) in (select * from unnest($1::text[], $2::text[]))`,
    [keys.map(({ projectId }) => projectId), keys.map(({ value }) => value)],
  );
  return rows.map(fromRow);
}

export type NewCustomer = {
  readonly projectId: string;
  readonly id: string;
  readonly sourceId: string;
  readonly at: Date;
};

/** Two requests may make the same customer at once: the second one's id is not used. */
export async function ensureCustomers(
  db: Queryable,
  customers: readonly NewCustomer[],
): Promise<void> {
  if (customers.length === 0) return;
  // Sorted, so that two batches with the same customers wait for each other instead of deadlocking.
  const sorted = customers.toSorted((a, b) => (a.sourceId < b.sourceId ? -1 : 1));
  await db.query(
    `insert into customer (project_id, id, source_id, created_at)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[])
     on conflict (project_id, source_id) do nothing`,
    [
      sorted.map(({ projectId }) => projectId),
      sorted.map(({ id }) => id),
      sorted.map(({ sourceId }) => sourceId),
      sorted.map(({ at }) => at),
    ],
  );
}

const TYPES: Readonly<Record<string, string>> = { birthdate: "::date" };

/** A field of the change, which is the JSON object `$3`. */
const changed = (field: string): string => `($3::jsonb ->> '${field}')${TYPES[field] ?? ""}`;

/** Sent fields overwrite, others stay; metadata is merged key by key. */
const MERGE = [
  ...CUSTOMER_FIELDS.map(
    (field) =>
      `${field} = case when $3::jsonb ? '${field}' then ${changed(field)} else customer.${field} end`,
  ),
  "metadata = customer.metadata || $4::jsonb",
  "updated_at = $5",
].join(", ");

export async function mergeCustomer(
  db: Queryable,
  key: { readonly projectId: string; readonly id: string },
  change: CustomerChange,
  at: Date,
): Promise<FoundCustomer | undefined> {
  const { rows } = await db.query<CustomerRow>(
    `update customer
        set ${MERGE}
      where project_id = $1 and id = $2
      returning project_id, id, source_id, name, email, birthdate::text, metadata`,
    [key.projectId, key.id, JSON.stringify(change.fields), JSON.stringify(change.metadata), at],
  );
  return rows[0] && fromRow(rows[0]);
}

/**
 * Makes the customer, or changes the one that has the source id already; answers whose id it is.
 * One statement, so that requests that do it at once make one customer.
 */
export async function upsertCustomer(
  db: Queryable,
  customer: {
    readonly projectId: string;
    readonly newId: string;
    readonly sourceId: string | null;
    readonly change: CustomerChange;
    readonly at: Date;
  },
): Promise<string> {
  const { projectId, newId, sourceId, change, at } = customer;
  const { rows } = await db.query<{ id: string }>(
    `insert into customer
            (project_id, id, ${CUSTOMER_FIELDS.join(", ")}, metadata, created_at, source_id)
     values ($1, $2, ${CUSTOMER_FIELDS.map(changed).join(", ")}, $4::jsonb, $5, $6)
         on conflict (project_id, source_id) do update set ${MERGE}
     returning id`,
    [
      projectId,
      newId,
      JSON.stringify(change.fields),
      JSON.stringify(change.metadata),
      at,
      sourceId,
    ],
  );
  const id = rows[0]?.id;
  if (id === undefined) throw new Error("an upsert made no customer");
  return id;
}

/** How many static segments the customer was taken out of; undefined when there was no such customer. */
export async function deleteCustomer(
  db: Queryable,
  projectId: string,
  id: string,
): Promise<{ readonly segments: bigint } | undefined> {
  const { rows } = await db.query<{ segments: bigint }>(
    `delete from customer where project_id = $1 and id = $2
     returning (select count(*) from segment_customer
                 where project_id = $1 and customer_id = $2) as segments`,
    [projectId, id],
  );
  return rows[0];
}

function fromRow(row: CustomerRow): FoundCustomer {
  return {
    projectId: row.project_id,
    id: row.id,
    sourceId: row.source_id,
    name: row.name,
    email: row.email,
    birthdate: row.birthdate,
    metadata: row.metadata,
  };
}
