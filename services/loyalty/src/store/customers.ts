import { enqueue, type OutboxEvent } from "@scrip/events";
import { type Database, type Queryable, textArray } from "@scrip/postgres";

import {
  type Customer,
  CUSTOMER_FIELDS,
  type CustomerChange,
  type CustomerKey,
} from "../domain/customer.ts";
import { keyOf } from "../domain/key.ts";
import { queueChangedSql } from "./changed-customers.ts";
import { countOfCustomer, deletePartOfCustomer } from "./deleted-customers.ts";

type CustomerRow = {
  project_id: string;
  id: string;
  source_id: string | null;
  name: string | null;
  email: string | null;
  birthdate: string | null;
  metadata: Record<string, unknown>;
};

export type StoredCustomer = Customer & { readonly projectId: string };

export async function findCustomersBy(
  db: Queryable,
  column: CustomerKey["column"],
  keys: readonly CustomerKey[],
): Promise<StoredCustomer[]> {
  if (keys.length === 0) return [];
  // A range with its order, which only the index of the column provides: a session keeps the plan that it
  // made while the table was small, when every index with the project id in front looked equally good.
  const { rows } = await db.query<CustomerRow>({
    name: `find_customers_by_${column}`,
    planning: "indexLookups",
    text: `select found.*
             from unnest($1::text[], $2::text[]) as key (project_id, value)
            cross join lateral (
                    select project_id, id, source_id, name, email, birthdate::text, metadata
                      from customer
                     where project_id = key.project_id and ${column} between key.value and key.value
                     order by ${column}
                     limit 1
                  ) found`,
    values: [
      textArray(keys.map(({ projectId }) => projectId)),
      textArray(keys.map(({ value }) => value)),
    ],
  });
  return rows.map(customerFromRow);
}

export type NewCustomer = {
  readonly projectId: string;
  readonly id: string;
  readonly sourceId: string;
  readonly at: Date;
};

/** If concurrent requests create the same customer, the id of the second one is not used. */
export async function insertMissingCustomers(
  db: Queryable,
  customers: readonly NewCustomer[],
): Promise<void> {
  if (customers.length === 0) return;
  // Sorted, so that two batches with the same customers wait for each other instead of deadlocking.
  const sorted = customers.toSorted((a, b) => (a.sourceId < b.sourceId ? -1 : 1));
  await db.query(
    `with created as (
       insert into customer (project_id, id, source_id, created_at)
       select * from unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[])
           on conflict (project_id, source_id) do nothing
       returning project_id, id
     )
     ${queueChangedSql("created", "id")}`,
    [
      sorted.map(({ projectId }) => projectId),
      sorted.map(({ id }) => id),
      sorted.map(({ sourceId }) => sourceId),
      sorted.map(({ at }) => at),
    ],
  );
}

const CASTS: Readonly<Record<string, string>> = { birthdate: "::date" };

/** SQL of a field of a change, which is a JSON object. */
const changedFieldSql = (field: string, fields: string): string =>
  `(${fields} ->> '${field}')${CASTS[field] ?? ""}`;

/** Sent fields overwrite, others stay; metadata is merged key by key. */
const mergeColumnsSql = (fields: string, metadata: string, at: string): string =>
  [
    ...CUSTOMER_FIELDS.map(
      (field) =>
        `${field} = case when ${fields} ? '${field}' then ${changedFieldSql(field, fields)} else customer.${field} end`,
    ),
    `metadata = customer.metadata || ${metadata}`,
    `updated_at = ${at}`,
  ].join(", ");

/**
 * Creates the customers whose source ids are new, in one statement; returns these source ids. Source ids must be
 * different.
 */
export async function insertCustomers(
  db: Queryable,
  customers: readonly (NewCustomer & { readonly change: CustomerChange })[],
): Promise<ReadonlySet<string>> {
  if (customers.length === 0) return new Set();
  const sorted = customers.toSorted((a, b) => (a.sourceId < b.sourceId ? -1 : 1));
  const { rows } = await db.query<{ source_id: string }>(
    `with created as (
       insert into customer
              (project_id, id, source_id, ${CUSTOMER_FIELDS.join(", ")}, metadata, created_at)
       select project_id, id, source_id,
              ${CUSTOMER_FIELDS.map((field) => changedFieldSql(field, "fields")).join(", ")},
              metadata, created_at
         from unnest($1::text[], $2::text[], $3::text[], $4::jsonb[], $5::jsonb[], $6::timestamptz[])
              as input (project_id, id, source_id, fields, metadata, created_at)
           on conflict (project_id, source_id) do nothing
       returning project_id, id, source_id
     ), queued as (${queueChangedSql("created", "id")})
     select source_id from created`,
    [
      sorted.map(({ projectId }) => projectId),
      sorted.map(({ id }) => id),
      sorted.map(({ sourceId }) => sourceId),
      sorted.map(({ change }) => JSON.stringify(change.fields)),
      sorted.map(({ change }) => JSON.stringify(change.metadata)),
      sorted.map(({ at }) => at),
    ],
  );
  return new Set(rows.map(({ source_id: sourceId }) => sourceId));
}

const RETURNING = `customer.project_id, customer.id, customer.source_id, customer.name, customer.email,
               customer.birthdate::text, customer.metadata`;

export type CustomerMerge = {
  readonly projectId: string;
  readonly id: string;
  readonly change: CustomerChange;
  readonly at: Date;
};

/**
 * Merges changes of different customers in one statement and returns the customers that exist. Locks are
 * taken in key order, so that concurrent batches do not deadlock.
 */
export async function mergeCustomers(
  db: Queryable,
  merges: readonly CustomerMerge[],
): Promise<StoredCustomer[]> {
  if (merges.length === 0) return [];
  const { rows } = await db.query<CustomerRow>(
    `with input as (
       select * from unnest($1::text[], $2::text[], $3::jsonb[], $4::jsonb[], $5::timestamptz[])
              as input (project_id, id, fields, metadata, at)
     ), held as (
       select project_id, id
         from customer
        where (project_id, id) in (select project_id, id from input)
        order by project_id, id
          for no key update
     ), merged as (
       update customer
          set ${mergeColumnsSql("input.fields", "input.metadata", "input.at")}
         from input
         join held using (project_id, id)
        where customer.project_id = input.project_id and customer.id = input.id
       returning ${RETURNING}
     ), queued as (${queueChangedSql("merged", "id")})
     select * from merged`,
    [
      merges.map(({ projectId }) => projectId),
      merges.map(({ id }) => id),
      merges.map(({ change }) => JSON.stringify(change.fields)),
      merges.map(({ change }) => JSON.stringify(change.metadata)),
      merges.map(({ at }) => at),
    ],
  );
  return rows.map(customerFromRow);
}

export async function mergeCustomer(
  db: Queryable,
  merge: CustomerMerge,
): Promise<StoredCustomer | undefined> {
  const [merged] = await mergeCustomers(db, [merge]);
  return merged;
}

/**
 * Creates a customer or merges the change into the one with this source id; returns the id. One statement,
 * so that concurrent requests create one customer.
 */
export async function upsertCustomer(
  db: Queryable,
  customer: {
    readonly projectId: string;
    readonly newId: string;
    readonly sourceId: string | null;
    readonly change: CustomerChange;
    readonly at: Date;
    /** `false`: a customer with this source id stays as it is. Default: true. */
    readonly changesStored?: boolean;
  },
): Promise<string> {
  const { projectId, newId, sourceId, change, at, changesStored = true } = customer;
  const merged = changesStored
    ? mergeColumnsSql("$3::jsonb", "$4::jsonb", "$5")
    : "source_id = customer.source_id";
  const { rows } = await db.query<{ id: string }>(
    `with upserted as (
       insert into customer
              (project_id, id, ${CUSTOMER_FIELDS.join(", ")}, metadata, created_at, source_id)
       values ($1, $2, ${CUSTOMER_FIELDS.map((field) => changedFieldSql(field, "$3::jsonb")).join(", ")},
               $4::jsonb, $5, $6)
           on conflict (project_id, source_id)
                 do update set ${merged}
       returning project_id, id
     ), queued as (${queueChangedSql("upserted", "id")})
     select id from upserted`,
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
  if (id === undefined) throw new Error("the upsert returned no id");
  return id;
}

/** Locks a customer until the transaction ends, which orders the events of the customer; false if deleted. */
export async function lockCustomer(tx: Queryable, projectId: string, id: string): Promise<boolean> {
  const { rowCount } = await tx.query(
    "select from customer where project_id = $1 and id = $2 for no key update",
    [projectId, id],
  );
  return rowCount === 1;
}

/** Locks customers until the transaction ends, in key order; returns those that exist, as `keyOf` of project and id. */
export async function lockCustomers(
  tx: Queryable,
  customers: readonly { readonly projectId: string; readonly customerId: string }[],
): Promise<ReadonlySet<string>> {
  if (customers.length === 0) return new Set();
  const { rows } = await tx.query<{ project_id: string; id: string }>(
    `select project_id, id from customer
      where (project_id, id) in (select * from unnest($1::text[], $2::text[]))
      order by project_id, id
        for no key update`,
    [customers.map(({ projectId }) => projectId), customers.map(({ customerId }) => customerId)],
  );
  return new Set(rows.map((row) => keyOf(row.project_id, row.id)));
}

/** Deleted with a customer: memberships of static segments, orders that were known to be paid, and custom events. */
export type DeletedCustomer = {
  readonly segments: bigint;
  readonly orders: bigint;
  readonly events: bigint;
};

/**
 * Deletes a customer, writes the event and deletes a part of what is stored about them, mostly all of it; undefined if they do
 * not exist. `deletePartOfCustomer` deletes the rest.
 */
export async function deleteCustomer(
  db: Database,
  projectId: string,
  id: string,
  event: OutboxEvent | null = null,
): Promise<DeletedCustomer | undefined> {
  return db.transaction(async (tx) => {
    const customer = { projectId, customerId: id };
    const { rows } = await tx.query<{ segments: bigint }>(
      `delete from customer where project_id = $1 and id = $2
       returning (select count(*) from segment_customer
                   where project_id = $1 and customer_id = $2) as segments`,
      [projectId, id],
    );
    const counts = await countOfCustomer(tx, customer);
    await deletePartOfCustomer(tx, customer);
    const [removed] = rows;
    if (removed === undefined) return undefined;
    if (event !== null) await enqueue(tx, [event], undefined);
    return { segments: removed.segments, ...counts };
  });
}

function customerFromRow(row: CustomerRow): StoredCustomer {
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
